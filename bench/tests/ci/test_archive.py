"""A stranger's archive is reduced to one image under its own name, or refused with a message."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import tarfile
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from pushbench.building.engine import Engine
from pushbench.building.images import Image, image_of
from pushbench.catalog.servers import read_catalog
from pushbench.ci import archive, tarfiles
from pushbench.ci.archive import rewrite
from pushbench.ci.imaging import load
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from tests.ci.archives import LATEST, OWN, blob, buildx, config, layer, named, sha256, tar, write
from tests.fuzz.archives import TARGET
from tests.support import make_project

ENGINE = Engine.find()
Files = dict[str, bytes]
PYTHON = "python:3.14-slim"


def rewritten(tmp_path: Path, files: Files | bytes) -> dict[str, bytes]:
    written = tmp_path / "written.tar"
    rewrite(write(tmp_path / "alpha.tar", files), written, OWN, [LATEST])
    with tarfile.open(written, "r:") as opened:
        members = opened.getmembers()
        assert all(member.isreg() for member in members)
        found = {member.name: opened.extractfile(member).read() for member in members}  # type: ignore[union-attr]
    assert len(found) == len(members)
    return found


def refused(tmp_path: Path, files: Files | bytes) -> str:
    target = tmp_path / "written.tar"
    with pytest.raises(UserError) as raised:
        rewrite(write(tmp_path / "alpha.tar", files), target, OWN, [LATEST])
    assert not target.exists()
    return str(raised.value)


@pytest.mark.parametrize("packed", [True, False], ids=["gzip", "plain"])
def test_what_is_written_holds_our_name_the_configuration_and_the_layers(tmp_path: Path, packed: bool) -> None:
    found = rewritten(tmp_path, buildx("first", "second", "first", packed=packed))
    image = config(layer("first"), layer("second"), layer("first"))
    first, second = sha256(layer("first")), sha256(layer("second"))
    assert set(found) == {f"{first}/layer.tar", f"{second}/layer.tar", f"{sha256(image)}.json", "manifest.json"}
    assert found[f"{sha256(image)}.json"] == image
    assert found[f"{first}/layer.tar"] == layer("first")
    layers = [f"{each}/layer.tar" for each in (first, second, first)]
    assert json.loads(found["manifest.json"]) == [
        {"Config": f"{sha256(image)}.json", "RepoTags": [OWN], "Layers": layers}
    ]


def test_the_older_form_of_docker_save_is_read(tmp_path: Path) -> None:
    first, image, folder = layer("x"), config(layer("x")), "f" * 64
    files = {
        f"{folder}/VERSION": b"1.0",
        f"{folder}/json": b"{}",
        f"{folder}/layer.tar": first,
        f"{sha256(image)}.json": image,
        "manifest.json": named(f"{sha256(image)}.json", [f"{folder}/layer.tar"]),
        "repositories": b'{"python": {"3.14-slim": "x"}}',
    }
    assert f"{sha256(first)}/layer.tar" in rewritten(tmp_path, files)


def with_names(files: Files, **tags: object) -> Files:
    manifest = json.loads(files["manifest.json"])
    manifest[0] |= tags
    return files | {"manifest.json": json.dumps(manifest).encode()}


def second_manifest(name: str) -> Callable[[Files], bytes]:
    """A second manifest under `name` after the good one, which `docker load` would use instead."""
    return lambda files: joined(files, name, with_names(files, RepoTags=[PYTHON])["manifest.json"])


def joined(files: Files, name: str, raw: bytes) -> bytes:
    """One archive with the files and another member."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as opened:
        for each, content in [*files.items(), (name, raw)]:
            info = tarfile.TarInfo(each)
            info.size = len(content)
            opened.addfile(info, io.BytesIO(content))
    return out.getvalue()


def special(kind: bytes, name: str = "manifest.json", link: str = "") -> Callable[[Files], bytes]:
    """The files and one member that is no regular file."""

    def make(files: Files) -> bytes:
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as opened:
            for each, content in files.items():
                if each != name:
                    info = tarfile.TarInfo(each)
                    info.size = len(content)
                    opened.addfile(info, io.BytesIO(content))
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, link
            opened.addfile(info)
        return out.getvalue()

    return make


def key_again(name: str) -> Callable[[Files], Files]:
    """A second key in manifest.json; Go's decoder ignores case and uses the last of two."""

    def make(files: Files) -> Files:
        raw = files["manifest.json"].replace(b'"Layers"', f'"{name}": ["{PYTHON}"], "Layers"'.encode())
        return files | {"manifest.json": raw}

    return make


def hidden(files: Files) -> bytes:
    """A second archive after the end mark of the first."""
    return tar(files) + tar(with_names(files, RepoTags=[PYTHON]))


def long_name(files: Files) -> bytes:
    """A name in an extended header, which readers interpret differently."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as opened:
        for each, content in files.items():
            info = tarfile.TarInfo(each)
            info.size = len(content)
            if each == "manifest.json":
                info.pax_headers = {"path": "index.json"}
            opened.addfile(info, io.BytesIO(content))
    return out.getvalue()


def other_bytes(name_part: str) -> Callable[[Files], Files]:
    def make(files: Files) -> Files:
        manifest = json.loads(files["manifest.json"])[0]
        path = manifest["Config"] if name_part == "Config" else manifest["Layers"][0]
        return files | {path: files[path] + b" "}

    return make


def reversed_layers(files: Files) -> Files:
    return with_names(files, Layers=json.loads(files["manifest.json"])[0]["Layers"][::-1])


HOSTILE: dict[str, tuple[Callable[[Files], Files | bytes], str]] = {
    # the three attacks of the review
    "a second manifest.json": (lambda files: joined(files, "manifest.json", b"[]"), "twice"),
    "./manifest.json": (second_manifest("./manifest.json"), "not plain"),
    "repotags after RepoTags": (key_again("repotags"), "a key occurs twice"),
    # and others
    "RepoTags twice": (key_again("RepoTags"), "a key occurs twice"),
    "a key that Go folds": (lambda files: with_names(files, repoTAGS=[PYTHON]), "a key occurs twice"),
    "an unknown key": (lambda files: with_names(files, Parent="x"), "other keys"),
    "Manifest.json": (second_manifest("Manifest.json"), "twice"),
    "blobs/../manifest.json": (second_manifest("blobs/../manifest.json"), "not plain"),
    "/manifest.json": (second_manifest("/manifest.json"), "not plain"),
    "another file": (lambda files: files | {"evil.json": b"{}"}, "does not belong in an image archive"),
    "a link": (special(tarfile.SYMTYPE, link="index.json"), "neither a file nor a folder"),
    "a hard link": (special(tarfile.LNKTYPE, link="index.json"), "neither a file nor a folder"),
    "a device": (special(tarfile.CHRTYPE, "blobs/sha256/x"), "neither a file nor a folder"),
    "an extended header": (long_name, "neither a file nor a folder"),
    "an archive after the end": (hidden, "does not end after its end mark"),
    "cut": (lambda files: tar(files)[:1500], "ends"),
    "no end mark": (lambda files: tar(files).rstrip(b"\0")[:512], "ends"),
    "compressed": (lambda files: gzip.compress(tar(files)), "not a tar archive, or is compressed"),
    "empty": (lambda _: b"", "ends before its end mark"),
    "another image's name": (lambda files: with_names(files, RepoTags=[PYTHON]), "names its image"),
    "another name as well": (lambda files: with_names(files, RepoTags=[OWN, PYTHON]), "names its image"),
    "no name": (lambda files: with_names(files, RepoTags=None), "names its image"),
    "not our tag": (lambda files: with_names(files, RepoTags=[LATEST]), "names its image"),
    "two images": (lambda files: files | {"manifest.json": b"[{}, {}]"}, "exactly one image"),
    "no JSON": (lambda files: files | {"manifest.json": b"["}, "not plain JSON"),
    "deep JSON": (lambda files: files | {"manifest.json": b"[" * 100_000}, "not plain JSON"),
    "large JSON": (lambda files: files | {"manifest.json": b" " * (1 << 20) + b"[]"}, "more than"),
    "no manifest": (
        lambda files: {name: raw for name, raw in files.items() if name != "manifest.json"},
        "has no manif",
    ),
    "another configuration": (other_bytes("Config"), "the digest of"),
    "another layer": (other_bytes("Layers"), "gzip stream|the digest of the layer"),
    "a layer that is not there": (
        lambda files: with_names(files, Layers=["blobs/sha256/" + "0" * 64] * 2),
        "lacks the",
    ),
    "fewer layers": (lambda files: with_names(files, Layers=[]), "0 layers"),
    "a layer that is manifest.json": (lambda files: with_names(files, Layers=["manifest.json"] * 2), "lacks the layer"),
    "layers in another order": (reversed_layers, "the digest of the layer"),
    "a folder for a layer": (lambda files: with_names(files, Layers=["blobs/"] * 2), "lacks the layer"),
    "a configuration elsewhere": (lambda files: with_names(files, Config="../../etc/passwd"), "no configuration"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_archive_that_two_readers_may_read_differently_is_refused(tmp_path: Path, name: str) -> None:
    make, sentence = HOSTILE[name]
    said = refused(tmp_path, make(buildx()))
    assert any(part in said for part in sentence.split("|")), said


def test_an_index_beside_the_manifest_is_left_out(tmp_path: Path) -> None:
    """buildx writes an index, so it is no reason to refuse; an index that names another image has no effect either."""
    other = {"schemaVersion": 2, "manifests": [{"annotations": {"io.containerd.image.name": PYTHON}}]}
    found = rewritten(tmp_path, buildx() | {"index.json": json.dumps(other).encode()})
    assert "index.json" not in found
    assert not any(PYTHON.encode() in raw for raw in found.values())


@pytest.mark.slow
def test_a_layer_that_unpacks_to_too_much_is_refused_in_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "MOST_UNPACKED", 32 << 20)
    bomb, image = gzip.compress(bytes(64 << 20), mtime=0), config(layer("x"))
    files = {blob(bomb): bomb, blob(image): image, "manifest.json": named(blob(image), [blob(bomb)])}
    source = write(tmp_path / "alpha.tar", files)
    del files, bomb
    tracemalloc.start()
    with pytest.raises(UserError, match="more than"):
        rewrite(source, tmp_path / "written.tar", OWN, [LATEST])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 << 20


def test_an_archive_has_a_largest_size_and_number_of_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarfiles, "MOST_MEMBERS", 3)
    assert "more than 3 members" in refused(tmp_path, buildx())
    monkeypatch.setattr(tarfiles, "MOST_BYTES", 1000)
    assert "more than 1000" in refused(tmp_path, buildx())


@pytest.mark.slow
@pytest.mark.engine
@pytest.mark.alone  # an image that another test makes meanwhile would count as one of the archive's
@pytest.mark.skipif(ENGINE is None, reason="needs a container engine that answers")
class TestWithAnEngine:
    def image(self, project: Project) -> Image:
        [server] = read_catalog(project.servers)
        return image_of(server)

    def test_what_docker_save_wrote_is_loaded(self, tmp_path: Path) -> None:
        assert ENGINE
        project = make_project(tmp_path / "checkout", alpha="")
        reference, path = self.image(project).reference(), tmp_path / "alpha.tar"
        (tmp_path / "Dockerfile").write_text("FROM scratch\nCOPY Dockerfile /a\nCOPY Dockerfile /b/c\n")
        subprocess.run(["docker", "build", "--quiet", "--tag", reference, tmp_path], check=True, capture_output=True)
        identity = ENGINE.image(reference)
        ENGINE.run("save", "--output", str(path), reference)
        ENGINE.run("image", "rm", reference)
        load(ENGINE, path, self.image(project))
        assert ENGINE.image(reference) == identity
        ENGINE.run("image", "rm", reference)

    def test_what_buildx_wrote_is_loaded_under_its_own_name_alone(self, tmp_path: Path) -> None:
        assert ENGINE
        project = make_project(tmp_path / "checkout", alpha="")
        image = self.image(project)
        latest = f"{image.reference().rpartition(':')[0]}:latest"
        load(ENGINE, write(tmp_path / "alpha.tar", buildx(tags=[image.reference(), latest])), image)
        assert ENGINE.image(image.reference()) == f"sha256:{sha256(config(layer('first'), layer('second')))}"
        assert ENGINE.image(latest) is None
        ENGINE.run("image", "rm", image.reference())


def resealed(raw: bytes) -> bytes:
    """The bytes with correct checksums in everything like a header, so that a change passes the first check."""
    out = bytearray(raw)
    for start in range(0, len(out) - 511, 512):
        if out[start + 257 : start + 262] == b"ustar":
            out[start + 148 : start + 156] = b" " * 8
            out[start + 148 : start + 156] = b"%06o\0 " % sum(out[start : start + 512])
    return bytes(out)


def mutated(seed: bytes, chosen: random.Random) -> bytes:
    out = bytearray(seed)
    for _ in range(chosen.randint(1, 4)):
        place = chosen.randrange(len(out))
        match chosen.randrange(4):
            case 0:
                out[place] = chosen.randrange(256)
            case 1:
                out[place : place + 1] = chosen.choice([b"", b"\0", b"0", b"./", b'"'])
            case 2:
                block = place // 512 * 512
                other = chosen.randrange(len(out)) // 512 * 512
                out[block : block + 512] = out[other : other + 512]
            case _:
                del out[place:]
                out += bytes(chosen.choice([0, 512, 1024]))
        if not out:
            break
    return resealed(bytes(out)) if chosen.random() < 0.7 else bytes(out)


def test_mutated_archives_give_a_sentence_or_the_very_image() -> None:
    """A few hundred mutations; the campaign of the fuzz tests has many more."""
    chosen, passed = random.Random(13), 0
    for seed in TARGET.seeds:
        assert TARGET.read(seed)
        for _ in range(150):
            try:
                passed += TARGET.read(mutated(seed, chosen))
            except UserError as error:
                assert str(error)
    assert passed < 150
