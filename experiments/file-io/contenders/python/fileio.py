"""Reads files and decodes them, one after the other or beside other work."""

from math import inf

from kumite_kit import serve

from mix import mixed
from texts import Texts


def work(job):
    texts = Texts(job.params["files"])
    match job.params["form"]:
        case "single":
            for n in range(job.params["reads"]):
                texts.read(n)
            return lambda: {"read": texts.by_file()}
        case "mixed":
            return mixed(job, texts, job.params | {"tasks": inf})
        case "cpu":
            return mixed(job, texts, job.params | {"io_share": 0})
        case form:
            raise ValueError(f"there is no form {form}")


if __name__ == "__main__":
    serve("python-threads", work)
