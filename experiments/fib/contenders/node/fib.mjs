// A function that computes a Fibonacci number, doubly recursive.
export async function handler({ n }) {
  fib(n);
  const begun = performance.now();
  const result = fib(n);
  return { n, fib: result, elapsed_ms: performance.now() - begun };
}

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
