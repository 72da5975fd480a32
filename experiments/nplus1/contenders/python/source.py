"""What the sources give, and when."""

import os

SCORES = [
    {"subject": "国語", "score": 80},
    {"subject": "数学", "score": 90},
    {"subject": "英語", "score": 85},
    {"subject": "社会", "score": 93},
    {"subject": "理科", "score": 72},
]

URL = os.environ.get("BACKEND_URL")


def students(params):
    return [str(n + 1) for n in range(params["students"])]


def scores(params):
    return SCORES[: params["scores"]]


def due_s(params, items):
    """When each item arrives by the timer, in seconds, and which it is."""
    # From the beginning, not from the one before: so late wake-ups do not add up.
    return [(n * params["delay_ms"] / 1000, item) for n, item in enumerate(items, 1)]


def by_http(params):
    """Whether each item is fetched from the backend, and not waited for by a timer."""
    backend = params["backend"]
    if backend not in ("timer", "http"):
        raise ValueError(f"backend {backend} is neither timer nor http")
    return backend == "http"
