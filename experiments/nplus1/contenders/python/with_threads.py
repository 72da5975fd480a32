"""Students and their scores as generators that wait; a thread for each student who is waited for."""

import time
from concurrent.futures import ThreadPoolExecutor

import httpx
from kumite_kit import serve

import source


def scores_by_student(client, job):
    futures = {}
    job.event("subscribe", "students")
    with ThreadPoolExecutor(
        job.params["students"], thread_name_prefix="worker"
    ) as pool:
        for student in arriving(client, job.params, source.students(job.params)):
            job.event("next", f"student {student}")
            futures[student] = pool.submit(scores_of, client, student, job)
        job.event("complete", "students")
    return {student: future.result() for student, future in futures.items()}


def scores_of(client, student, job):
    scores = []
    job.event("subscribe", f"student {student}")
    for score in arriving(client, job.params, source.scores(job.params)):
        job.event("next", f"score {student} {score['subject']}")
        scores.append(score)
    job.event("complete", f"student {student}")
    return scores


def arriving(client, params, items):
    if source.by_http(params):
        return fetched(client, items)
    return timed(source.due_s(params, items))


def timed(items):
    begun = time.monotonic()
    for due, item in items:
        time.sleep(max(0, begun + due - time.monotonic()))
        yield item


def fetched(client, items):
    for item in items:
        client.get(source.URL).raise_for_status()
        yield item


if __name__ == "__main__":
    # A client is for all threads: it has a pool of connections.
    with httpx.Client(trust_env=False) as client:
        serve("python-threads", lambda job: scores_by_student(client, job))
