"""What the sources give, and when."""

SCORES = [
    {"subject": "国語", "score": 80},
    {"subject": "数学", "score": 90},
    {"subject": "英語", "score": 85},
    {"subject": "社会", "score": 93},
    {"subject": "理科", "score": 72},
]


def students(params):
    """When each student is due, in seconds, and who it is."""
    return _due(params, [str(n + 1) for n in range(params["students"])])


def scores(params):
    """When each score of a student is due, and which it is."""
    return _due(params, SCORES[: params["scores"]])


def _due(params, items):
    # From the beginning, not from the one before: so late wake-ups do not add up.
    return [(n * params["delay_ms"] / 1000, item) for n, item in enumerate(items, 1)]
