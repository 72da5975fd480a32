#include "fib.hpp"

std::int64_t fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
