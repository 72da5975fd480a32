"""Sleeps where the module is loaded: that is a function's constructor here."""

import os
import time

loaded = time.monotonic()
count = 0


def since_load_ms():
    return (time.monotonic() - loaded) * 1000


print(f"constructor entered: {since_load_ms():.0f} ms")
time.sleep(float(os.environ["SLEEP_MS"]) / 1000)
print(f"constructor left: {since_load_ms():.0f} ms")


def handler(event, context):
    global count
    count += 1
    return {"handler": "wait-init-10", "count": count}
