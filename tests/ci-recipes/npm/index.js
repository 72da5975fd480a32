let x = 1;
for (let i = 0; i < ROUNDS; i++) {
  x ^= x << 13;
  x ^= x >>> 17;
  x ^= x << 5;
}
console.log(x);
