"""Says whether the answer is the Fibonacci number that was asked for."""

from kumite_kit import serve


def check(job):
    n, answer = job.params["params"]["n"], job.params["result"]
    expected = {"n": n, "fib": fib(n)}
    given = {name: answer.get(name) for name in expected}
    if given == expected:
        return {"right": True}
    return {"right": False, "why": f"{given!r:.200} is not {expected!r}"}


def fib(n):
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a


serve("fib-checker", check)
