"""Says whether what was compressed is, once it is decompressed, the file that was to be compressed."""

import subprocess
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from kumite_kit import serve

from generate import generate


def check(job):
    params = job.params["params"]
    # Each contender's folder is called like its tool.
    tool = Path(job.params["folder"]).name
    with Path(job.params["result"]).open("rb") as compressed:
        done = subprocess.run(
            [tool, "-dc"], stdin=compressed, capture_output=True, check=False
        )
    if done.returncode != 0:
        return {
            "right": False,
            "why": f"{tool} -dc: {done.stderr.decode(errors='replace'):.200}",
        }
    expected = digest(params["content"], params["size_bytes"], params["seed"])
    if sha256(done.stdout).hexdigest() != expected:
        return {
            "right": False,
            "why": f"decompressed, it is not the file, but {len(done.stdout)} other bytes",
        }
    return {"right": True}


@lru_cache
def digest(*parameters):
    return sha256(generate(*parameters)).hexdigest()


serve("compress-checker", check)
