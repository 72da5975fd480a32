"""An image of containers: image.py NAME USER WORKDIR LAYER.tar… > IMAGE.tar, by the layout of the Open Container Initiative."""

import hashlib
import io
import json
import sys
import tarfile

name, user, workdir, *layers = sys.argv[1:]
archive = tarfile.open(fileobj=sys.stdout.buffer, mode="w|")


def add(path, content, size):
    entry = tarfile.TarInfo(path)
    entry.size = size
    archive.addfile(entry, content)


def described(digest, size, kind):
    return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": size}


def blob(value, kind):
    text = json.dumps(value).encode()
    digest = hashlib.sha256(text).hexdigest()
    add(f"blobs/sha256/{digest}", io.BytesIO(text), len(text))
    return described(digest, len(text), kind)


def layer(path):
    with open(path, "rb") as file:
        digest = hashlib.sha256()
        while part := file.read(1 << 20):
            digest.update(part)
        size = file.tell()
        file.seek(0)
        add(f"blobs/sha256/{digest.hexdigest()}", file, size)
    return described(digest.hexdigest(), size, "layer.v1.tar")


layers = [layer(path) for path in layers]
# By itself it does nothing: a node takes it for the container that holds a pod's namespaces, too.
does = {"User": user, "WorkingDir": workdir, "Env": ["PATH=/usr/bin:/bin"], "Cmd": ["sleep", "infinity"]}
rootfs = {"type": "layers", "diff_ids": [layer["digest"] for layer in layers]}
config = blob({"architecture": "amd64", "os": "linux", "config": does, "rootfs": rootfs}, "config.v1+json")
manifest = blob({"schemaVersion": 2, "config": config, "layers": layers}, "manifest.v1+json")
manifest["annotations"] = {"io.containerd.image.name": name}
for path, value in [
    ("oci-layout", {"imageLayoutVersion": "1.0.0"}),
    ("index.json", {"schemaVersion": 2, "manifests": [manifest]}),
]:
    text = json.dumps(value).encode()
    add(path, io.BytesIO(text), len(text))
archive.close()
