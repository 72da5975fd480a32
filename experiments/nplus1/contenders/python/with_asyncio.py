"""Students and their scores as asynchronous generators; a task for each student."""

import asyncio

import httpx
from kumite_kit import serve

import source


async def scores_by_student(client, job):
    tasks = {}
    job.event("subscribe", "students")
    async with asyncio.TaskGroup() as group:
        async for student in arriving(client, job.params, source.students(job.params)):
            job.event("next", f"student {student}")
            tasks[student] = group.create_task(scores_of(client, student, job))
        job.event("complete", "students")
    return {student: task.result() for student, task in tasks.items()}


async def scores_of(client, student, job):
    scores = []
    job.event("subscribe", f"student {student}")
    async for score in arriving(client, job.params, source.scores(job.params)):
        job.event("next", f"score {student} {score['subject']}")
        scores.append(score)
    job.event("complete", f"student {student}")
    return scores


def arriving(client, params, items):
    if source.by_http(params):
        return fetched(client, items)
    return timed(source.due_s(params, items))


async def timed(items):
    loop = asyncio.get_running_loop()
    begun = loop.time()
    for due, item in items:
        await asyncio.sleep(begun + due - loop.time())
        yield item


async def fetched(client, items):
    for item in items:
        (await client.get(source.URL)).raise_for_status()
        yield item


async def open_client():
    return httpx.AsyncClient(trust_env=False)


def main():
    with asyncio.Runner() as runner:
        client = runner.run(open_client())
        serve("python-asyncio", lambda job: runner.run(scores_by_student(client, job)))
        runner.run(client.aclose())


if __name__ == "__main__":
    main()
