// A function that computes a Fibonacci number, doubly recursive.
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "fib.hpp"
#include "runtime_api.hpp"

using std::chrono::steady_clock;

RuntimeApi::Json handle(const RuntimeApi::Json& event) {
  const int n = event.at("n");
  fib(n);
  const auto begun = steady_clock::now();
  const auto result = fib(n);
  const std::chrono::duration<double, std::milli> elapsed = steady_clock::now() - begun;
  return {{"n", n}, {"fib", result}, {"elapsed_ms", elapsed.count()}};
}

int main(int argc, char** argv) try {
  if (argc > 1 && std::string(argv[1]) == "--version") {
    std::cout << "GCC " __VERSION__ ", libcurl " << curl_version_info(CURLVERSION_NOW)->version << std::endl;
    return 0;
  }
  const auto host = std::getenv("AWS_LAMBDA_RUNTIME_API");
  if (!host) throw std::runtime_error("AWS_LAMBDA_RUNTIME_API is not set");
  RuntimeApi(host).serve(handle);
} catch (const std::exception& error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
