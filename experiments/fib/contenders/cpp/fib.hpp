#pragma once
#include <cstdint>

// In a file of its own: a compiler that saw it where it is called would compute it once for both calls, and
// when it likes.
std::int64_t fib(int n);
