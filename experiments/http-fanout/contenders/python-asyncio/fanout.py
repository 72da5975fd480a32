"""Asks a backend many times, one after another or all at once, with aiohttp."""

import asyncio
import os
import platform
import sys
from collections import Counter

import aiohttp
import uvloop
from kumite_kit import serve

URL = os.environ.get("BACKEND_URL")


async def fan_outs(session, params):
    fan_out = FAN_OUTS.get(params["form"])
    if not fan_out:
        raise ValueError(f"form {params['form']} is neither sequential nor parallel")
    fan_outs = (fan_out(session, params["requests"]) for _ in range(params["jobs"]))
    bodies = await asyncio.gather(*fan_outs)
    return lambda: [Counter(each) for each in bodies]


async def sequential(session, requests):
    return [await get(session) for _ in range(requests)]


async def parallel(session, requests):
    return await asyncio.gather(*(get(session) for _ in range(requests)))


async def get(session):
    async with session.get(URL) as response:
        if response.status != 200:
            raise ValueError(f"{URL} answers {response.status}")
        return await response.text()


FAN_OUTS = {"sequential": sequential, "parallel": parallel}


async def open_session():
    # A session belongs to the loop that runs when it is made.
    return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))


def version():
    python = f"{platform.python_implementation()} {platform.python_version()}"
    modules = (aiohttp, uvloop)
    return ", ".join([python, *(f"{m.__name__} {m.__version__}" for m in modules)])


def main():
    if sys.argv[1:] == ["--version"]:
        print(version())
        return
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        session = runner.run(open_session())
        serve("python-asyncio", lambda job: runner.run(fan_outs(session, job.params)))
        runner.run(session.close())


if __name__ == "__main__":
    main()
