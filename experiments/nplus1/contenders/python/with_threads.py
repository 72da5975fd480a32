"""Students and their scores as generators that sleep; a thread for each student who is waited for."""

import time
from concurrent.futures import ThreadPoolExecutor

from kumite_kit import serve

import source


def scores_by_student(job):
    futures = {}
    job.event("subscribe", "students")
    with ThreadPoolExecutor(
        job.params["students"], thread_name_prefix="worker"
    ) as pool:
        for student in arriving(source.students(job.params)):
            job.event("next", f"student {student}")
            futures[student] = pool.submit(scores_of, student, job)
        job.event("complete", "students")
    return {student: future.result() for student, future in futures.items()}


def scores_of(student, job):
    scores = []
    job.event("subscribe", f"student {student}")
    for score in arriving(source.scores(job.params)):
        job.event("next", f"score {student} {score['subject']}")
        scores.append(score)
    job.event("complete", f"student {student}")
    return scores


def arriving(items):
    begun = time.monotonic()
    for due, item in items:
        time.sleep(max(0, begun + due - time.monotonic()))
        yield item


if __name__ == "__main__":
    serve("python-threads", scores_by_student)
