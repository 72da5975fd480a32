"""Says whether an answer is one that the function can give."""

from functools import cache
from hashlib import pbkdf2_hmac

from kumite_kit import serve


def check(job):
    why = fault(job.params["params"], job.params["result"])
    return {"right": False, "why": why} if why else {"right": True}


def fault(params, answer):
    handler = params["handler"]
    counted = "threads" if handler == "dump" else "count"
    number = answer.get(counted)
    if type(number) is not int or number < 1:
        return f"{counted} is {number!r:.100}"
    if handler == "pid":
        instance = answer.get("instance")
        if not (isinstance(instance, str) and instance.isdecimal()):
            return f"instance {instance!r:.100} is no process"
    if handler == "wait-handler":
        # Before a call's own wait lie those of the calls before it; a timer may be a millisecond short.
        since_load, waits = answer.get("since_load_ms"), number - 1
        least = waits * (params["handler_sleep_ms"] - 1)
        if not isinstance(since_load, int | float) or since_load < least:
            return f"{since_load!r:.100} ms since load, after {waits} waits"
    if handler.startswith("credentials-"):
        digest, expected = answer.get("digest"), key(params["rounds"])
        if digest != expected:
            return f"digest {digest!r:.100} is not {expected}"


@cache
def key(rounds):
    return pbkdf2_hmac("sha256", b"kumite", b"cold-start", rounds, 32).hex()


serve("cold-start-checker", check)
