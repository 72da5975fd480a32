"""A job brings all parameters: job.params["things"]. What is returned is the result."""

from kumite_kit import serve


def work(job):
    return {"not written yet": job.params}


serve("python", work)
