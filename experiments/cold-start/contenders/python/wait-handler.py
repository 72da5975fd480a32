"""Sleeps in the handler."""

import os
import time

loaded = time.monotonic()
count = 0


def handler(event, context):
    global count
    count += 1
    since_load = since_load_ms()
    print(f"before wait: {since_load:.0f} ms")
    time.sleep(float(os.environ["HANDLER_SLEEP_MS"]) / 1000)
    print(f"after wait: {since_load_ms():.0f} ms")
    return {"handler": "wait-handler", "since_load_ms": since_load, "count": count}


def since_load_ms():
    return (time.monotonic() - loaded) * 1000
