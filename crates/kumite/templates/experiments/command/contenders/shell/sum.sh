i=0 sum=0
while [ $i -lt "$NUMBERS" ]; do
  i=$((i + 1))
  sum=$((sum + i))
done
echo $sum
