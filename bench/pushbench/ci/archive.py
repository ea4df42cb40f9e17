"""Rewrites the archive of an image from an untrusted build: the engine only loads archives that we wrote.

`docker load` looks for several files in an archive (manifest.json, index.json, repositories), uses the last of two
members with the same name, and matches JSON keys whatever their case. A file that passes a check can thus be bypassed
by another one. So the archive is parsed strictly, and a new one is written. It contains manifest.json with our name,
the configuration and the layers, in the form that every engine loads. The layers have to match the digests in the
configuration.

https://github.com/moby/moby/blob/master/daemon/internal/image/tarexport/load.go
"""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from pushbench.ci.tarfiles import BLOCK, CHUNK, Span, content, members
from pushbench.foundation.errors import UserError

MOST_JSON = 1 << 20
MOST_LAYERS = 127
"""the engine's maximum: https://github.com/moby/moby/blob/master/layer/layer_store.go"""
MOST_UNPACKED = 4 << 30
"""bytes of all layers"""
HEX = "[0-9a-f]{64}"
KNOWN = re.compile(
    r"manifest\.json|oci-layout|index\.json|repositories"
    rf"|blobs/sha256/{HEX}|{HEX}\.json|{HEX}/(?:VERSION|json|layer\.tar)",
    re.ASCII,
)
"""buildx writes the first three and blobs, an older `docker save` the others; files that manifest.json does not name
are left out: https://github.com/containerd/containerd/blob/main/core/images/archive/exporter.go"""
CONFIG = re.compile(rf"(?:blobs/sha256/)?({HEX})(?:\.json)?", re.ASCII)
BLOB = re.compile(rf"blobs/sha256/({HEX})", re.ASCII)
DIFF_ID = re.compile(rf"sha256:({HEX})", re.ASCII)
KEYS = {"Config", "RepoTags", "Layers"}
DROPPED_KEYS = {"LayerSources"}
"""the sources of Windows layers; `docker save` writes it since Docker 25"""


def rewrite(source: Path, target: Path, own: str, also: Iterable[str] = ()) -> None:
    """Write the image of `source` to `target` under the name `own` only.

    The names in the source must be `own` or one of `also`. Raises UserError for everything except a single image with
    such names; `target` then does not exist.
    """
    try:
        with source.open("rb") as file, target.open("xb") as out:
            try:
                _rewrite(file, out, own, {own, *also})
            except UserError as error:
                raise UserError(error.what, where=str(source), hint=error.hint) from None
    except UserError:
        target.unlink(missing_ok=True)
        raise


def _rewrite(file: BinaryIO, out: BinaryIO, own: str, allowed: set[str]) -> None:
    found = members(file)
    for name in found:
        if not KNOWN.fullmatch(name):
            raise UserError(f"the archive has a file that does not belong in an image archive: {name!r}")
    manifest = _manifest(_json(file, found, "manifest.json"), own, allowed)
    config, image = _config(file, found, manifest["Config"])
    layers = _layers(manifest["Layers"], found, image)
    writer = _Writer(out)
    for digest, path in dict(layers).items():
        writer.add_layer(path, digest, content(file, found[path]))
    digest = hashlib.sha256(config).hexdigest()
    writer.add(f"{digest}.json", config)
    named = {"Config": f"{digest}.json", "RepoTags": [own], "Layers": [f"{each}/layer.tar" for each, _ in layers]}
    writer.add("manifest.json", json.dumps([named]).encode())
    writer.end()


def _manifest(document: Any, own: str, allowed: set[str]) -> dict[str, Any]:
    if not isinstance(document, list) or len(document) != 1 or not isinstance(document[0], dict):
        raise UserError("the archive does not have exactly one image")
    manifest: dict[str, Any] = document[0]
    if not KEYS <= manifest.keys() <= KEYS | DROPPED_KEYS:
        raise UserError(f"manifest.json has other keys than {', '.join(sorted(KEYS))}")
    tags, layers = manifest["RepoTags"], manifest["Layers"]
    if (
        not isinstance(tags, list)
        or own not in tags
        or not all(isinstance(tag, str) and tag in allowed for tag in tags)
    ):
        raise UserError(f"the archive names its image {str(tags)[:200]}, not {own}")
    if not isinstance(layers, list) or not all(isinstance(layer, str) for layer in layers):
        raise UserError("manifest.json has layers that are not names")
    if not layers or len(layers) > MOST_LAYERS:
        raise UserError(f"the image has {len(layers)} layers; an image has 1 to {MOST_LAYERS}")
    return manifest


def _config(file: BinaryIO, found: Mapping[str, Span], path: Any) -> tuple[bytes, Any]:
    """The raw configuration, and its parsed content."""
    named = CONFIG.fullmatch(path) if isinstance(path, str) else None
    if not named:
        raise UserError("manifest.json names no configuration")
    raw = _small(file, found, path)
    if hashlib.sha256(raw).hexdigest() != named[1]:
        raise UserError(f"the digest of {path} does not match its name")
    return raw, _parsed(raw, path)


def _layers(paths: list[str], found: Mapping[str, Span], image: Any) -> list[tuple[str, str]]:
    """The digest of the unpacked layer and the member's name, for each layer in order."""
    files = image.get("rootfs") if isinstance(image, dict) else None
    ids = files.get("diff_ids") if isinstance(files, dict) else None
    if not isinstance(ids, list) or files is None or files.get("type") != "layers" or len(ids) != len(paths):
        raise UserError("the configuration does not name the layers of manifest.json")
    layers = []
    for path, each in zip(paths, ids, strict=True):
        named = DIFF_ID.fullmatch(each) if isinstance(each, str) else None
        if not named or path not in found or not (BLOB.fullmatch(path) or path.endswith("/layer.tar")):
            raise UserError(f"the archive lacks the layer {str(path)[:200]!r}")
        layers.append((named[1], path))
    return layers


class _Writer:
    """A tar archive whose members may be written before their size is known."""

    def __init__(self, out: BinaryIO) -> None:
        self._out, self._unpacked = out, 0

    def add(self, name: str, raw: bytes) -> None:
        self._out.write(_header(name, len(raw)) + raw + bytes(-len(raw) % BLOCK))

    def add_layer(self, path: str, digest: str, chunks: Iterator[bytes]) -> None:
        """Add the layer `path`, unpacked. Raises UserError if its digests do not match."""
        name, start = f"{digest}/layer.tar", self._out.tell()
        self._out.write(bytes(BLOCK))
        packed, unpacked, size = hashlib.sha256(), hashlib.sha256(), 0
        for piece in _unpacked(_hashed(chunks, packed)):
            size += len(piece)
            if self._unpacked + size > MOST_UNPACKED:
                raise UserError(f"the layers of the image have more than {MOST_UNPACKED} bytes")
            unpacked.update(piece)
            self._out.write(piece)
        blob = BLOB.fullmatch(path)
        if (blob and packed.hexdigest() != blob[1]) or unpacked.hexdigest() != digest:
            raise UserError(f"the digest of the layer {path} does not match its name or the configuration")
        self._unpacked += size
        self._out.write(bytes(-size % BLOCK))
        end = self._out.tell()
        self._out.seek(start)
        self._out.write(_header(name, size))
        self._out.seek(end)

    def end(self) -> None:
        self._out.write(bytes(2 * BLOCK))


def _hashed(chunks: Iterable[bytes], digest: Any) -> Iterator[bytes]:
    for chunk in chunks:
        digest.update(chunk)
        yield chunk


def _unpacked(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The content unpacked from gzip, or unchanged: a tar archive cannot begin like gzip, because no name does."""
    first = next(chunks, b"")
    if not first.startswith(b"\x1f\x8b"):
        yield first
        yield from chunks
        return
    reader = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
    try:
        waiting = first
        while True:
            while waiting:
                yield reader.decompress(waiting, CHUNK)
                waiting = reader.unconsumed_tail
                if reader.eof and (reader.unused_data or waiting or any(chunks)):
                    raise UserError("a layer has more than one gzip stream")
            following = next(chunks, None)
            if following is None:
                break
            waiting = following
        yield reader.flush()
    except zlib.error as error:
        raise UserError(f"a layer cannot be unpacked: {error}") from None
    if not reader.eof:
        raise UserError("a layer ends inside its gzip stream")


def _json(file: BinaryIO, found: Mapping[str, Span], name: str) -> Any:
    return _parsed(_small(file, found, name), name)


def _small(file: BinaryIO, found: Mapping[str, Span], name: str) -> bytes:
    if name not in found:
        raise UserError(f"the archive has no {name}")
    if found[name].size > MOST_JSON:
        raise UserError(f"{name} has {found[name].size} bytes, more than {MOST_JSON}")
    return b"".join(content(file, found[name]))


def _parsed(raw: bytes, name: str) -> Any:
    """JSON without duplicate keys: Go uses the last of two, whatever their case."""
    try:
        return json.loads(raw.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise UserError(f"{name} is not plain JSON: {str(error)[:200]}") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key.casefold() for key, _ in pairs}) != len(pairs):
        raise ValueError("a key occurs twice")
    return dict(pairs)


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is not a number")


def _header(name: str, size: int) -> bytes:
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, 0o644
    return info.tobuf(tarfile.USTAR_FORMAT)
