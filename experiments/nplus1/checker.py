"""Says whether an answer holds every student with the right scores, and if not, what is wanting."""

import json

from kumite_kit import serve

SCORES = [
    {"subject": "国語", "score": 80},
    {"subject": "数学", "score": 90},
    {"subject": "英語", "score": 85},
    {"subject": "社会", "score": 93},
    {"subject": "理科", "score": 72},
]

NAMED_MAX = 10


def check(job):
    params, result = job.params["params"], job.params["result"]
    if not isinstance(result, dict):
        return {
            "right": False,
            "why": f"not an object from student to scores: {brief(result)}",
        }

    students = [str(n) for n in range(1, params["students"] + 1)]
    expected = SCORES[: params["scores"]]
    missing, incomplete, wrong = [], [], []
    for student in students:
        if student not in result:
            missing.append(student)
        elif result[student] != expected:
            kind, what = compare(result[student], expected)
            (incomplete if kind == "incomplete" else wrong).append(
                f"{student} ({what})"
            )
    known = set(students)
    extra = [brief(student) for student in result if student not in known]

    found = [f"{len(students) - len(missing)} of {len(students)} students"]
    for what, names in [
        ("missing", missing),
        ("incomplete", incomplete),
        ("wrong", wrong),
        ("not asked for", extra),
    ]:
        if names:
            found.append(f"{what}: {named(names)}")
    return (
        {"right": True}
        if len(found) == 1
        else {"right": False, "why": "; ".join(found)}
    )


def compare(scores, expected):
    if not isinstance(scores, list):
        return "wrong", f"{brief(scores)} instead of scores"
    rest = list(expected)
    for score in scores:
        if score not in rest:
            return "wrong", f"{brief(score)} is one too many"
        rest.remove(score)
    if rest:
        return "incomplete", f"{len(scores)} of {len(expected)} scores"
    return "wrong", "its scores in another order"


def named(names):
    more = len(names) - NAMED_MAX
    return ", ".join(names[:NAMED_MAX]) + (f" and {more} more" if more > 0 else "")


def brief(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:60] + "…"


serve("nplus1-checker", check)
