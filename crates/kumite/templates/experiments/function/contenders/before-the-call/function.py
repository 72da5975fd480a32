"""Does its set-up before the first call. It speaks Lambda's Runtime API by itself; AWS's runtime clients run here, too."""

import hashlib
import json
import os
import urllib.request

API = f"http://{os.environ['AWS_LAMBDA_RUNTIME_API']}/2018-06-01/runtime/invocation"
rounds = int(os.environ["ROUNDS"])
key = hashlib.pbkdf2_hmac("sha256", b"secret", b"salt", rounds)


def handler(event):
    return {"rounds": event["rounds"], "key": key.hex()}


while True:
    with urllib.request.urlopen(f"{API}/next") as call:
        request = call.headers["Lambda-Runtime-Aws-Request-Id"]
        answer = handler(json.load(call))
    urllib.request.urlopen(f"{API}/{request}/response", json.dumps(answer).encode())
