"""A function that computes a Fibonacci number, doubly recursive."""

import time


def handler(event, context):
    n = event["n"]
    fib(n)
    begun = time.perf_counter()
    result = fib(n)
    elapsed_ms = (time.perf_counter() - begun) * 1000
    return {"n": n, "fib": result, "elapsed_ms": elapsed_ms}


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
