"""Waits for all things at once."""

import asyncio

from kumite_kit import serve

# Made before the clock starts.
runner = asyncio.Runner()


async def wait(ms):
    await asyncio.sleep(ms / 1000)
    return 1


async def work(job):
    waits = [wait(job.params["wait_ms"]) for _ in range(job.params["things"])]
    return {"waited": sum(await asyncio.gather(*waits))}


serve("all-at-once", lambda job: runner.run(work(job)))
