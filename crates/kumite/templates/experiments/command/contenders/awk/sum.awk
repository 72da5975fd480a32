BEGIN {
  for (i = 1; i <= ENVIRON["NUMBERS"]; i++) sum += i
  printf "%d\n", sum
}
