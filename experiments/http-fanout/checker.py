"""Says whether every fan-out read as many bodies as it sent requests, and none but the backend's."""

from kumite_kit import serve


def check(job):
    params, fan_outs = job.params["params"], job.params["result"]
    jobs, expected = params["jobs"], {"pong": params["requests"]}
    if not isinstance(fan_outs, list) or len(fan_outs) != jobs:
        return wrong(f"{fan_outs!r:.200} is not a list of {jobs} fan-outs")
    for nth, bodies in enumerate(fan_outs, 1):
        if bodies != expected:
            return wrong(
                f"fan-out {nth} has the bodies {bodies!r:.200}, not {expected!r}"
            )
    return {"right": True}


def wrong(why):
    return {"right": False, "why": why}


serve("http-fanout-checker", check)
