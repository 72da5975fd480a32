"""Students and their scores as asynchronous generators; a task for each student."""

import asyncio

from kumite_kit import serve

import source


async def scores_by_student(job):
    tasks = {}
    job.event("subscribe", "students")
    async with asyncio.TaskGroup() as group:
        async for student in arriving(source.students(job.params)):
            job.event("next", f"student {student}")
            tasks[student] = group.create_task(scores_of(student, job))
        job.event("complete", "students")
    return {student: task.result() for student, task in tasks.items()}


async def scores_of(student, job):
    scores = []
    job.event("subscribe", f"student {student}")
    async for score in arriving(source.scores(job.params)):
        job.event("next", f"score {student} {score['subject']}")
        scores.append(score)
    job.event("complete", f"student {student}")
    return scores


async def arriving(items):
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for due, item in items:
        await asyncio.sleep(begun + due - loop.time())
        yield item


if __name__ == "__main__":
    with asyncio.Runner() as runner:
        serve("python-asyncio", lambda job: runner.run(scores_by_student(job)))
