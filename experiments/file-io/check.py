"""Says whether each file was read whole and as it is, and the sum beside it is right; if not, what is wrong."""

import hashlib
import json
from functools import cache

from kumite_kit import serve

NAMED_MAX = 10
CHECKED = 10  # CPU tasks, the first of the sequence


def check(job):
    params, result = job.params["params"], job.params["result"]
    if not isinstance(result, dict) or not isinstance(result.get("read"), dict):
        return {
            "right": False,
            "why": f"not an object with the files read: {brief(result)}",
        }

    wrong, times = [], {}
    for name, read in result["read"].items():
        if name not in map(str, range(params["files"])):
            wrong.append(f"file {brief(name)}: there is none of this name")
        elif not isinstance(read, dict) or not whole(read.get("times")):
            wrong.append(f"file {name}: {brief(read)} does not say how often")
        else:
            times[int(name)] = read["times"]
            if read["times"] > 0:
                wrong += compare(name, read, *expected(int(name), params["size_bytes"]))
    if not wrong:
        wrong += count(params, times)
    if params["form"] != "single":
        wrong += add_up(params, result.get("checksum"))

    more = len(wrong) - NAMED_MAX
    why = "; ".join(wrong[:NAMED_MAX]) + (f"; and {more} more" if more > 0 else "")
    return {"right": False, "why": why} if wrong else {"right": True}


def compare(name, read, chars, sha256):
    if read.get("chars") != chars:
        yield f"file {name}: {brief(read.get('chars'))} characters instead of {chars}"
    elif read.get("sha256") != sha256:
        yield f"file {name}: as many characters, but another text ({brief(read.get('sha256'))})"


@cache
def expected(file, size_bytes):
    """Characters and hash of what the lab wrote."""
    line = (
        f"{file:04} 組手 kumite, café 0123456789 abcdefghijklmnopqrstuvwxyz\n".encode()
    )
    cut = (line * (size_bytes // len(line) + 1))[:size_bytes]
    text = cut.decode(errors="ignore")  # what is ignored is the half of a character
    text += " " * (size_bytes - len(text.encode()))
    return len(text), hashlib.sha256(text.encode()).hexdigest()


def count(params, times):
    """Files take turns. Beside other work, what was in flight at the end may be read, too."""
    total = sum(times.values())
    if params["form"] == "single":
        for file in range(params["files"]):
            turns = len(range(file, params["reads"], params["files"]))
            if times.get(file, 0) != turns:
                yield f"file {file}: read {times.get(file, 0)} times instead of {turns}"
    elif params["form"] == "cpu":
        if total > 0:
            yield f"{total} files read instead of none"
    elif total < params["io_tasks"]:
        yield f"{total} files read instead of {params['io_tasks']}"


def add_up(params, checksum):
    """Sums are of 32 bits; with a sign or without is the language's habit."""
    right = first_sums(params["objects"], params["steps"])
    if not whole(checksum) or checksum % 2**32 != right:
        yield f"checksum: {brief(checksum)} instead of {right}"


@cache
def first_sums(objects, steps):
    total = 0
    for task in range(CHECKED):
        x = sum(range(task, task + objects)) % 2**32
        for _ in range(steps):
            x = ((x ^ (x >> 15)) * 1664525 + 1013904223) % 2**32
        total ^= x
    return total


def whole(value):
    return type(value) is int


def brief(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:60] + "…"


if __name__ == "__main__":
    serve("file-io-checker", check)
