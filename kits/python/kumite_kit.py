"""The task protocol of kumite: JSON lines on stdin and stdout. See README.md."""

import json
import os
import platform
import sys
import threading
import time
import traceback


class Job:
    """What the work is given: `params`, and what it may leave beside its result."""

    def __init__(self, params):
        self.params = params
        self.metrics = {}
        self.events = [] if params.get("events") is True else None
        self.begun_ns = time.monotonic_ns()

    def event(self, kind, id, thread=None):
        """Records an event of this thread, or of the one named, if `params.events` is true."""
        if self.events is not None:
            at_ns = time.monotonic_ns() - self.begun_ns
            thread = thread or threading.current_thread().name
            self.events.append((at_ns, thread, kind, id))


def serve(name, work, runtime=None):
    """Serves jobs, one after the other, until stdin ends.

    `work` is given a `Job` and returns the result. If that is callable, it is called after the
    clock has stopped, and what it returns is the result.
    """
    # What anybody prints belongs to the log.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)

    def say(answer):
        answers.write(answer.encode() + b"\n")
        answers.flush()

    hello = {
        "hello": 1,
        "name": name,
        "runtime": runtime
        or f"{platform.python_implementation()} {platform.python_version()}",
        "pid": os.getpid(),
        # What sizes a ThreadPoolExecutor; affinity counts since Python 3.13.
        "cores": getattr(os, "process_cpu_count", os.cpu_count)(),
    }
    for line in sys.stdin.buffer:
        if not line.endswith(b"\n"):
            break
        request = _parse(line)
        say(json.dumps(hello) if "hello" in request else _run(request, work, say))


def _run(request, work, say):
    number = request["job"]
    try:
        job = Job(request["params"])
        result = work(job)
        elapsed_ns = time.monotonic_ns() - job.begun_ns
        say(json.dumps({"done": number}))
        answer = {
            "job": number,
            "elapsed_ns": elapsed_ns,
            "result": result() if callable(result) else result,
            "metrics": job.metrics,
        }
        if job.events is not None:
            answer["events"] = job.events
        return json.dumps(answer, allow_nan=False)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is the answer
        traceback.print_exc()
        return json.dumps(
            {"job": number, "error": " ".join(str(error).split()) or repr(error)}
        )


def _parse(line):
    try:
        request = json.loads(line.decode())
        if isinstance(request, dict):
            number, params = request.get("job"), request.get("params")
            if request.get("hello") == 1:
                return request
            if type(number) is int and 0 < number < 2**53 and isinstance(params, dict):
                return request
    except (ValueError, RecursionError):
        pass
    print("not a request:", line[:200], file=sys.stderr)
    sys.exit(2)
