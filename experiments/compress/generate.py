"""Makes the file that is compressed, `$SCRATCH/input`: the same for the same parameters."""

import os
import random
from itertools import accumulate, cycle
from pathlib import Path

SYLLABLES = [
    onset + vowel + coda
    for onset in "bdfgklmnprstvw"
    for vowel in "aeiou"
    for coda in ("", "n", "r", "s")
]


def generate(content, size_bytes, seed):
    chance = random.Random(seed)
    match content:
        case "random":
            return chance.randbytes(size_bytes)
        case "text":
            return text(chance, size_bytes)
        case other:
            raise ValueError(f"content is text or random, not {other!r}")


def text(chance, size_bytes):
    """Phrases of words; few of either are frequent and most are rare, as in a language."""
    words = [
        "".join(chance.choices(SYLLABLES, k=chance.randint(1, 4)))
        for _ in range(10_000)
    ]
    some = cycle(drawn(chance, words, 60_000))
    phrases = [
        " ".join(next(some) for _ in range(chance.randint(1, 3))) for _ in range(30_000)
    ]
    ended = [phrase + chance.choice(["", "", "", "", ",", "."]) for phrase in phrases]
    text = ""
    while len(text) < size_bytes:
        text += " ".join(drawn(chance, ended, size_bytes // 10 + 1)) + " "
    return text[:size_bytes].encode()


def drawn(chance, things, count):
    """By a power law of their rank, such as Zipf's."""
    weights = list(accumulate(rank**-0.8 for rank in range(1, len(things) + 1)))
    return chance.choices(things, cum_weights=weights, k=count)


if __name__ == "__main__":
    made = generate(
        os.environ["CONTENT"], int(os.environ["SIZE_BYTES"]), int(os.environ["SEED"])
    )
    Path(os.environ["SCRATCH"], "input").write_bytes(made)
