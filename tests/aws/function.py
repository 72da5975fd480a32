"""A function on AWS's runtime client for Python: its event says what to do, and how it is answered."""

import os
import threading
import time

ticks = 0


def tick():
    global ticks
    while True:
        time.sleep(0.01)
        ticks += 1


threading.Thread(target=tick, daemon=True).start()


def handler(event, context):
    do = event.get("do") if isinstance(event, dict) else None
    if do == "raise":
        raise ValueError("as told")
    if do in ("sleep", "instance"):
        time.sleep(event.get("s", 0))
    if do == "exit":
        os._exit(3)
    if do == "answer":
        return "x" * event["bytes"]
    if do == "log":
        print("a" + "ü" * event["letters"])
    if do == "environment":
        return dict(os.environ)
    if do == "instance":
        return {"pid": os.getpid(), "ticks": ticks}
    if do == "note":
        custom = context.client_context.custom if context.client_context else None
        with open(event["file"], "a") as file:
            file.write(f"{custom}\n")
    if do == "context":
        names = [
            "aws_request_id",
            "function_name",
            "function_version",
            "invoked_function_arn",
        ]
        names += ["memory_limit_in_mb", "log_group_name", "log_stream_name"]
        found = {name: getattr(context, name) for name in names}
        found["left_ms"] = context.get_remaining_time_in_millis()
        found["custom"] = (
            context.client_context.custom if context.client_context else None
        )
        found["trace"] = os.environ.get("_X_AMZN_TRACE_ID")
        return found
    return event
