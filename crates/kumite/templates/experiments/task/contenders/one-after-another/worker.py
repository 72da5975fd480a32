"""Waits for one thing after another."""

import time

from kumite_kit import serve


def work(job):
    waited = 0
    for _ in range(job.params["things"]):
        time.sleep(job.params["wait_ms"] / 1000)
        waited += 1
    return {"waited": waited}


serve("one-after-another", work)
