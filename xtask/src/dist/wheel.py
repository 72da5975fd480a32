"""Packs a folder with bin/ and share/ as a Python wheel: pip puts both below the environment's own."""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

prefix, wheel, version = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
tag = "-".join(wheel.stem.split("-")[2:])
info = f"kumite-{version}.dist-info"
metadata = f"""\
Metadata-Version: 2.4
Name: kumite
Version: {version}
Summary: Settles performance arguments about concurrency: interleaved, paired, checked trials, and verdicts with intervals
License-Expression: Apache-2.0 OR MIT
"""
contents = f"Wheel-Version: 1.0\nGenerator: kumite\nRoot-Is-Purelib: false\nTag: {tag}\n"

files = {f"{info}/METADATA": metadata.encode(), f"{info}/WHEEL": contents.encode()}
modes = {}
for file in sorted(path for path in prefix.rglob("*") if path.is_file()):
    place = file.relative_to(prefix)
    kind = "scripts" if place.parts[0] == "bin" else "data"
    inside = Path(*place.parts[1:]) if kind == "scripts" else place
    name = f"kumite-{version}.data/{kind}/{inside}"
    files[name] = file.read_bytes()
    modes[name] = file.stat().st_mode

record = ""
with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
    for name, data in files.items():
        entry = zipfile.ZipInfo(name)
        entry.compress_type = zipfile.ZIP_DEFLATED
        entry.external_attr = modes.get(name, 0o100644) << 16
        archive.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
        record += f"{name},sha256={digest.decode().rstrip('=')},{len(data)}\n"
    archive.writestr(f"{info}/RECORD", record + f"{info}/RECORD,,\n")
