"""A chat bot that answers "ping" with "pong": a plain ASGI application in uvicorn."""

import os
import platform
import sys

import httptools
import uvicorn
import uvloop

MESSAGE_BYTES_MAX = 4096


async def app(scope, receive, send):
    if scope["method"] != "POST" or scope["path"] != "/":
        await answer(send, 404, b"Not Found")
    elif await message(receive) == b"ping":
        await answer(send, 200, b"pong")
    else:
        await answer(send, 400, b"Bad Request")


async def message(receive):
    text = b""
    while True:
        event = await receive()
        # What does not fit is not kept; it is too long to be a "ping" anyway.
        if len(text) <= MESSAGE_BYTES_MAX:
            text += event.get("body", b"")
        if not event.get("more_body", False):
            return text


async def answer(send, status, text):
    headers = [
        (b"content-type", b"text/plain"),
        (b"content-length", str(len(text)).encode()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def version():
    python = f"{platform.python_implementation()} {platform.python_version()}"
    modules = (uvicorn, uvloop, httptools)
    return ", ".join([python, *(f"{m.__name__} {m.__version__}" for m in modules)])


def main():
    if sys.argv[1:] == ["--version"]:
        print(version())
        return
    uvicorn.run(
        "bot:app",
        host=os.environ["HOST"],
        port=int(os.environ["PORT"]),
        # os.cpu_count() would count the processors that it may not use.
        workers=len(os.sched_getaffinity(0)),
        loop="uvloop",
        http="httptools",
        lifespan="off",
        access_log=False,
        proxy_headers=False,
        timeout_graceful_shutdown=1,
    )


if __name__ == "__main__":
    main()
