"""Says who it is, and how often it was called."""

import os

count = 0


def handler(event, context):
    global count
    count += 1
    return {"handler": "pid", "instance": str(os.getpid()), "count": count}
