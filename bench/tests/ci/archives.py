"""Archives of an image as builders write them, and as attackers may."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

OWN = "ghcr.io/acme/pushbench/alpha:0123456789ab"
LATEST = "ghcr.io/acme/pushbench/alpha:latest"


def sha256(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def tar(files: Mapping[str, bytes]) -> bytes:
    """A plain archive, with members in the order of the mapping."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as opened:
        for name, raw in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            opened.addfile(info, io.BytesIO(raw))
    return out.getvalue()


def layer(text: str) -> bytes:
    return tar({"file": text.encode()})


def config(*layers: bytes, **changed: Any) -> bytes:
    root = {"type": "layers", "diff_ids": [f"sha256:{sha256(each)}" for each in layers]}
    return json.dumps({"architecture": "amd64", "os": "linux", "config": {}, "rootfs": root, **changed}).encode()


def blob(raw: bytes) -> str:
    return f"blobs/sha256/{sha256(raw)}"


def named(config_path: str, layers: list[str], tags: Any = (OWN, LATEST), **changed: Any) -> bytes:
    entry = {"Config": config_path, "RepoTags": list(tags), "Layers": layers}
    return json.dumps([entry | changed]).encode()


def buildx(*texts: str, tags: Any = (OWN, LATEST), packed: bool = True) -> dict[str, bytes]:
    """The files of `docker buildx --output type=docker,dest=`.

    https://github.com/containerd/containerd/blob/main/core/images/archive/exporter.go
    """
    layers = [layer(text) for text in texts or ("first", "second")]
    stored = [gzip.compress(each, mtime=0) if packed else each for each in layers]
    image = config(*layers)
    manifest = json.dumps({"schemaVersion": 2, "layers": [{"digest": f"sha256:{sha256(each)}"} for each in stored]})
    index = {"schemaVersion": 2, "manifests": [{"digest": f"sha256:{sha256(manifest.encode())}"}]}
    files = {blob(each): each for each in [*stored, image, manifest.encode()]}
    files |= {"index.json": json.dumps(index).encode()}
    files |= {"manifest.json": named(blob(image), [blob(each) for each in stored], tags)}
    return files | {"oci-layout": b'{"imageLayoutVersion":"1.0.0"}'}


def write(path: Path, files: Mapping[str, bytes] | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(files if isinstance(files, bytes) else tar(files))
    return path
