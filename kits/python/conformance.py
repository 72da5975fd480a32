"""A worker that does what it is told, for `kumite kit-test`."""

import time

from kumite_kit import serve


def work(job):
    match job.params["do"]:
        case "echo":
            return job.params["value"]
        case "empty":
            return None
        case "fail":
            raise RuntimeError(job.params["message"])
        case "sleep":
            time.sleep(job.params["ms"] / 1000)
        case "events":
            job.event("next", "one")
            time.sleep(0.002)
            job.event("complete", "two")
        case "metrics":
            job.metrics["answer_count"] = 42
        case other:
            raise ValueError(f"nothing known to do: {other}")


serve("python-conformance", work)
