"""The machine renews its Actions runner from GitHub's releases, and trusts nothing but a checksum."""

from __future__ import annotations

import errno
import gzip
import hashlib
import tarfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

import runner_api
import runner_renewal
from runner_renewal import may_lead
from runner_unpack import BadArchive, take, unpack
from tests.runner.runner_double import Answer, Api, Done
from tests.runner.runner_double import api as api  # noqa: PLC0414 - a fixture
from tests.runner.runner_releases import FILES, LIST, NOW, archive, entry, offered, release, renew


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_api, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(runner_renewal, "PATIENCE_SECONDS", 0.3)


def test_a_newer_release_is_fetched_compared_and_offered(api: Api, tmp_path: Path) -> None:
    content = archive()
    offered(api, "2.339.0", content)
    done = renew(api, tmp_path)
    line = "Actions runner 2.339.0 is here; it takes the place of 2.338.0 before the next job\n"
    assert (done.returncode, done.stdout) == (0, line), done.stderr
    assert (tmp_path / "offer" / "offer").read_text() == f"2.339.0 {hashlib.sha256(content).hexdigest()}\n"
    assert {authorization for _, _, authorization in api.requests} == {None}  # there is no token to leak
    taken = take(tmp_path / "offer", tmp_path / "state")
    assert taken == "Actions runner 2.339.0 takes the place of 2.338.0"
    for name, text in FILES.items():
        assert (tmp_path / "state" / "dist" / name).read_bytes() == text
    assert (tmp_path / "state" / "dist" / "bin" / "npm").readlink() == Path("../lib/npm-cli.js")


def test_it_looks_once_a_day_and_again_soon_after_a_failure(api: Api, tmp_path: Path) -> None:
    api.answers[LIST] = [(503, None)]
    assert renew(api, tmp_path).returncode == 1
    api.answers[LIST] = [(200, [release("2.338.0", b"-", 40)])]
    first = renew(api, tmp_path)
    assert (first.returncode, first.stdout) == (0, "Actions runner 2.338.0 is the newest\n")
    api.requests.clear()
    assert (renew(api, tmp_path), api.asked) == (Done(0, "", ""), [])


@pytest.mark.parametrize("newest", ["2.337.9", "2.338.0", "2.9.0"])
def test_an_older_release_is_never_offered(api: Api, tmp_path: Path, newest: str) -> None:
    api.answers[LIST] = [(200, [release(newest, archive(), 1)])]
    assert renew(api, tmp_path).stdout == "Actions runner 2.338.0 is the newest\n"
    assert not (tmp_path / "offer" / "offer").exists()


def test_drafts_and_trials_are_no_releases(api: Api, tmp_path: Path) -> None:
    trials = [release("2.340.0", b"-", 1, prerelease=True), release("2.341.0", b"-", 1, draft=True)]
    api.answers[LIST] = [(200, [*trials, release("2.338.0", b"-", 40)])]
    assert renew(api, tmp_path).stdout == "Actions runner 2.338.0 is the newest\n"


OUT = "which leads out"
HOSTILE: dict[str, tuple[bytes, str]] = {
    "a path that leads out": (archive(entry("../etc/cron.d/x", size=1)), OUT),
    "an absolute path": (archive(entry("/etc/cron.d/x", size=1)), OUT),
    "a link that leads out": (archive(entry("a", type=tarfile.SYMTYPE, linkname="../x")), OUT),
    "an absolute link": (archive(entry("a", type=tarfile.SYMTYPE, linkname="/etc")), OUT),
    "a link that climbs out of a link": (archive(entry("b/a", type=tarfile.SYMTYPE, linkname="c/../../..")), OUT),
    "a hard link that leads out": (archive(entry("a", type=tarfile.LNKTYPE, linkname="../../etc/shadow")), OUT),
    "a hard link to nothing": (archive(entry("a", type=tarfile.LNKTYPE, linkname="etc/shadow")), "to nothing before"),
    "a file below a link": (
        archive(entry("a", type=tarfile.SYMTYPE, linkname="bin"), entry("a/x", size=1)),
        "below something that is no folder",
    ),
    "a file twice": (archive(entry("run.sh", size=1)), "twice"),
    "a device": (archive(entry("sda", type=tarfile.BLKTYPE)), "no file, folder or link"),
    "a pipe": (archive(entry("pipe", type=tarfile.FIFOTYPE)), "no file, folder or link"),
    "no runner": (archive(without="bin/Runner.Worker"), "holds no bin/Runner.Worker"),
    "half of an archive": (archive()[:-60], ""),
    "no archive": (b"<html>try again later</html>", ""),
    "an archive of nothing": (gzip.compress(b"\0" * 10_240), "holds no run.sh"),
}


@pytest.mark.parametrize(("content", "why"), HOSTILE.values(), ids=HOSTILE.keys())
def test_a_hostile_archive_is_refused_with_its_right_checksum_and_nothing_is_written(
    api: Api, tmp_path: Path, content: bytes, why: str
) -> None:
    offered(api, "2.339.0", content)
    done = renew(api, tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert why in done.stderr
    assert "; this machine goes on with 2.338.0: GitHub refuses it in 19 days\n" in done.stderr
    assert [path.name for path in (tmp_path / "offer").iterdir()] == ["known.json"]
    (tmp_path / "archive").write_bytes(content)  # root trusts the fetcher no more than that trusts GitHub
    with pytest.raises(BadArchive):
        unpack(tmp_path / "archive", tmp_path / "target")
    assert not list(tmp_path.glob("target/**/*.*")) and not (tmp_path / "target").exists()


def sends(body: bytes, length: int | None = None) -> Answer:
    return (200, body, {"Content-Length": str(length if length is not None else len(body))})


GOOD = archive()
WRONG: dict[str, tuple[list[Answer], dict[str, Any], str]] = {
    "another checksum": ([], {"asset_digest": f"sha256:{'0' * 64}"}, "GitHub's list says 000000"),
    "no checksum": ([], {"asset_digest": None}, "release 2.339.0 tells no SHA-256 of actions-runner-linux-"),
    "a weak checksum": ([], {"asset_digest": f"md5:{'0' * 32}"}, "tells no SHA-256"),
    "an upload that is not over": ([], {"asset_state": "starter"}, "tells no SHA-256"),
    "another machine's file": ([], {"asset_name": "actions-runner-win-x64-2.339.0.zip"}, "tells no SHA-256"),
    "a transfer that breaks off": ([sends(GOOD[:100], len(GOOD))], {}, "the archive has 100 bytes or more and not"),
    "a short file": ([sends(GOOD[:100])], {}, f"the archive has 100 bytes or more and not {len(GOOD)}"),
    "a longer file": ([sends(GOOD + b"more")], {}, "bytes or more and not"),
    "a file of other content": ([sends(b"x" * len(GOOD))], {}, "and GitHub's list says"),
    "a size beyond all bounds": ([], {"asset_size": 10**12}, "the archive has 1000000000000 bytes, more than"),
    "a way elsewhere": (
        [(302, None, {"Location": "https://evil.example/x"})],
        {},
        "'evil.example', which is not GitHub",
    ),
    "a way into this machine": ([(302, None, {"Location": "file:///etc/passwd"})], {}, "(HTTPError 302)"),
    "a circle": ([(302, None, {"Location": "/files/1"})], {}, "the download failed (HTTPError 302)"),
    "no file": ([(404, None)], {}, "the download failed (HTTPError 404)"),
}


@pytest.mark.parametrize(("answers", "change", "why"), WRONG.values(), ids=WRONG.keys())
def test_what_is_not_the_release_is_refused_and_the_machine_goes_on(
    api: Api, tmp_path: Path, answers: list[Answer], change: dict[str, Any], why: str
) -> None:
    offered(api, "2.339.0", GOOD, *answers, **change)
    done = renew(api, tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert done.stderr.startswith("the Actions runner was not renewed: ")
    assert why in done.stderr
    assert [path.name for path in (tmp_path / "offer").iterdir()] == ["known.json"]


@pytest.mark.parametrize(
    "document",
    [{}, [], None, "x", [1, None, {}], [{"tag_name": "v9.9.9"}], [{**release("9.9.9", b"", 1), "assets": 5}]],
)
def test_an_answer_of_another_form_is_an_error_of_one_line(api: Api, tmp_path: Path, document: Any) -> None:
    api.answers[LIST] = [(200, document)]
    done = renew(api, tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "lists no release of the Actions runner that this version can read" in done.stderr


def test_a_full_disk_is_an_error_of_one_line(api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    offered(api, "2.339.0", GOOD)
    monkeypatch.setattr(runner_renewal.Known, "write", full)
    done = renew(api, tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "No space left on device; this machine goes on with 2.338.0" in done.stderr


@pytest.mark.slow
def test_a_failed_look_says_how_long_the_runner_is_good_for(api: Api, tmp_path: Path) -> None:
    api.answers[LIST] = [(503, None)]
    assert renew(api, tmp_path).stderr.endswith("30 days after the next release, and no look has succeeded yet\n")
    known = tmp_path / "offer" / "known.json"

    def look(days: float, newer: float | None) -> str:
        end = NOW - timedelta(days=newer) + runner_renewal.GRACE if newer is not None else None
        runner_renewal.Known(NOW - timedelta(days=days), (2, 338, 0), end).write(known)
        return renew(api, tmp_path).stderr

    assert look(2, 10).endswith("goes on with 2.338.0: GitHub refuses it in 19 days\n")
    assert "GitHub refuses it since 2" in look(2, 31)
    assert "it was the newest on 2" in look(2, None)
    (tmp_path / "state" / "version").write_text(f"2.339.0 {'0' * 64}\n")
    assert "no look has succeeded yet" in look(2, 31)  # the known release is of another version
    for text in ("", "[]", '{"looked": 5}', "x" * 1000):
        known.write_text(text)
        assert "no look has succeeded yet" in renew(api, tmp_path).stderr


@pytest.mark.parametrize(
    ("address", "may"),
    [
        ("https://github.com/actions/runner/x", True),
        ("https://release-assets.githubusercontent.com/x?sig=y", True),
        ("https://objects.githubusercontent.com/x", True),
        ("http://objects.githubusercontent.com/x", False),
        ("https://objects.githubusercontent.com:8443/x", False),
        ("https://me@objects.githubusercontent.com/x", False),
        ("https://objects.githubusercontent.com.evil.example/x", False),
        ("https://evil.example/objects.githubusercontent.com", False),
        ("https://evilgithubusercontent.com/x", False),
        ("https://github.com@evil.example/x", False),
        ("http://github.com/x", False),
        ("file:///etc/passwd", False),
        ("", False),
    ],
)
def test_a_download_stays_where_github_keeps_files(address: str, may: bool) -> None:
    assert may_lead("https://github.com", address) == may


# ---- root's half: puts the runner in place


def put(folder: Path, text: str, content: bytes = GOOD) -> tuple[Path, Path]:
    offer, state = folder / "offer", folder / "state"
    for each in (offer, state / "dist"):
        each.mkdir(parents=True)
    (state / "dist" / "run.sh").write_text("old")
    (state / "version").write_text(f"2.338.0 {'0' * 64}\n")
    (offer / "offer").write_text(text)
    (offer / "runner.tar.gz").write_bytes(content)
    return offer, state


DIGEST = hashlib.sha256(GOOD).hexdigest()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2.339.0 DIGEST",
        "2.339.0  DIGEST\n",
        "v2.339.0 DIGEST\n",
        "2.339 DIGEST\n",
        "2.339.0 UPPER\n",
        "2.339.0 DIGEST\n2.340.0 DIGEST\n",
        "٢.339.0 DIGEST\n",
        "2.339.0 ZEROS\n",
        "2.338.0 DIGEST\n",
        "1.999.0 DIGEST\n",
        "x" * 10_000,
    ],
)
def test_an_offer_that_is_not_one_changes_nothing(tmp_path: Path, text: str) -> None:
    digests = {"DIGEST": DIGEST, "UPPER": DIGEST.upper(), "ZEROS": "0" * 64}
    for name, digest in digests.items():
        text = text.replace(name, digest)
    offer, state = put(tmp_path, text)
    with pytest.raises(BadArchive):
        take(offer, state)
    assert (state / "dist" / "run.sh").read_text() == "old"
    assert sorted(path.name for path in state.iterdir()) == ["dist", "version"]
    assert not list(offer.iterdir())


def test_root_follows_no_link_of_the_fetcher(tmp_path: Path) -> None:
    offer, state = put(tmp_path, f"2.339.0 {DIGEST}\n")
    (offer / "runner.tar.gz").rename(tmp_path / "elsewhere")
    (offer / "runner.tar.gz").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadArchive, match="cannot be read"):
        take(offer, state)
    assert (tmp_path / "elsewhere").exists()


def test_after_a_loss_of_power_between_two_renames_the_old_runner_is_still_there(tmp_path: Path) -> None:
    offer, state = put(tmp_path, f"2.339.0 {'0' * 64}\n")
    (state / "dist").rename(state / "dist.old")
    with pytest.raises(BadArchive):
        take(offer, state)
    assert (state / "dist" / "run.sh").read_text() == "old"


def test_files_are_roots_to_change_and_everybodys_to_read(tmp_path: Path) -> None:
    offer, state = put(tmp_path, "")
    (offer / "runner.tar.gz").write_bytes(archive(entry("loose", size=1, mode=0o6777, uid=1001)))
    unpack(offer / "runner.tar.gz", state / "dist.new")
    found = (state / "dist.new" / "loose").stat()
    assert oct(found.st_mode)[-4:] == "0755"
    assert found.st_uid == state.stat().st_uid
