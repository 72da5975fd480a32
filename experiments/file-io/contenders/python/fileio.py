"""Reads files and decodes them, one after the other or beside other work."""

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
            return mixed(job, texts)
        case form:
            raise ValueError(f"form {form} is neither single nor mixed")


if __name__ == "__main__":
    serve("python-threads", work)
