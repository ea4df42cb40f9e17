"""Builds of servers and of the generator, once for the same sources, toolchains and commands.

A server is built in its own folder by the commands of its server.yml. A stamp in the cache identifies the inputs of
that build. It is removed before a build and written after it, so a killed build does not count.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pushbench.building import toolchains
from pushbench.building.sources import digest_files, server_digest, source_files
from pushbench.building.toolchains import Missing, Toolset
from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.servers import Server
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import locked, tail, write_atomically
from pushbench.foundation.project import Project
from pushbench.machine.ownership import OWNER, owner_marker

Note = Callable[[str], None]
"""Shows progress to the user."""


def build_server(project: Project, server: Server, tools: Toolset, note: Note) -> None:
    """Build `server` unless its products from the same sources exist, possibly from another variant of it.

    Raises ServerFailed with the end of the log.
    """
    commands = server.process.build
    products = _digest([server_digest(server), tools.versions, commands])
    stamps = project.cache / "builds"
    stamp = stamps / f"{server.name}-{_digest(commands)[:8]}.json"
    log = project.logs / f"build-{server.slug}.log"
    with locked(stamps / f"{server.name}.lock", lambda: note(f"{server.id}: waiting for another build of it")):
        if not _stands(stamp, products, server.folder):
            stamp.unlink(missing_ok=True)
            note(f"{server.id}: building ({_first_words(commands)})")
            began = time.monotonic()
            _run_all(commands, server, tools, log)
            _write_stamp(stamp, products, server)
            note(f"{server.id}: built in {time.monotonic() - began:.0f} s")


def run_server_tests(project: Project, server: Server, tools: Toolset, note: Note) -> None:
    """Run the server's own tests. Raises ServerFailed with the end of their output."""
    log = project.logs / f"test-{server.slug}.log"
    began = time.monotonic()
    _run_all(server.process.test, server, tools, log)
    if server.process.test:
        note(f"{server.id}: tests passed in {time.monotonic() - began:.0f} s")


def build_digest(server: Server, tools: Toolset) -> str:
    """The digest of a build's inputs: sources, toolchain versions, and commands."""
    process = server.process
    return _digest([server_digest(server), tools.versions, process.build, process.start, server.spec.env])


def _digest(facts: object) -> str:
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def build_generator(project: Project, note: Note) -> Path:
    """Build the k6 of this checkout. Raises UserError if Go is missing or the build fails."""
    go = toolchains.find("go", f">={_go_version(project.generator / 'go.mod')}")
    if isinstance(go, Missing):
        raise UserError(f"building the generator (k6) {go}")
    files = [path for path in source_files(project.generator) if _goes_into_k6(path)]
    digest = digest_files(project.generator, files)
    binary = project.cache / "k6" / f"{digest[:16]}-go{go.version}" / "k6"
    with locked(project.cache / "k6" / ".lock", lambda: note("k6: waiting for another build of it")):
        if not binary.exists():
            note("k6: building (go build)")
            began = time.monotonic()
            binary.parent.mkdir(parents=True, exist_ok=True)
            aside = binary.with_name(f"k6.{os.getpid()}")
            log = project.logs / "build-k6.log"
            command = ["go", "build", "-trimpath", "-ldflags", "-s -w", "-o", str(aside), "."]
            if run_step(Toolset([go]), command, project.generator, log) != 0:
                raise UserError(
                    f"the generator (k6) does not build: {last_line(tail(log))}",
                    where=str(project.generator),
                    hint=f"the whole output is in {project.relative(log)}",
                )
            aside.replace(binary)
            for other in binary.parent.parent.glob("*-go*"):
                if other != binary.parent:
                    shutil.rmtree(other, ignore_errors=True)  # 60 MB each
            note(f"k6: built in {time.monotonic() - began:.0f} s")
    return binary


def build_faults(project: Project) -> Path:
    """Build the program that injects faults into servers. Raises UserError as `build_generator` does."""
    go = toolchains.find("go", f">={_go_version(project.generator / 'go.mod')}")
    if isinstance(go, Missing):
        raise UserError(f"building faults {go}")
    binary, log = project.cache / "faults", project.logs / "build-faults.log"
    log.unlink(missing_ok=True)
    command = ["go", "build", "-trimpath", "-o", str(binary), "./cmd/faults"]
    if run_step(Toolset([go]), command, project.generator, log) != 0:
        raise UserError(
            f"faults does not build: {last_line(tail(log))}", where=str(project.generator / "cmd" / "faults")
        )
    return binary


def _stands(stamp: Path, digest: str, folder: Path) -> bool:
    """Whether the products in `folder` exist and were built from `digest`."""
    try:
        written = json.loads(stamp.read_text())
        same = bool(written["digest"] == digest and written["folder"] == str(folder))
        return same and all((folder / each).exists() for each in written["products"])
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _write_stamp(stamp: Path, digest: str, server: Server) -> None:
    folder = server.folder
    sources = {path.parts[0] for path in source_files(folder)}
    made = {entry.name for entry in folder.iterdir() if entry.name not in sources}
    content = {"digest": digest, "folder": str(folder), "products": sorted(made | _started(server))}
    write_atomically(stamp, json.dumps(content).encode())


def _started(server: Server) -> set[str]:
    """The files in its folder that a server's command names, as in `-jar target/server.jar` and `-XX:File=a.jsa`: the
    folder of products may exist without them.
    """
    words = {word.rpartition("=")[2] for word in server.process.start}
    return {word for word in words if not Path(word).is_absolute() and (server.folder / word).is_file()}


def _run_all(commands: Sequence[Sequence[str]], server: Server, tools: Toolset, log: Path) -> None:
    log.unlink(missing_ok=True)
    for argv in commands:
        code = run_step(tools, argv, server.folder, log)
        if code != 0:
            raise ServerFailed("build", f"`{' '.join(argv)}` ended with exit code {code}", tail(log))


def run_step(tools: Toolset, argv: Sequence[str], folder: Path, log: Path) -> int:
    """Run one build command and append its output to `log`. A build needs the user's proxies and certificates, so
    unlike a measured program it gets the user's environment, with the toolchains first on the PATH.
    """
    paths = os.pathsep.join([tools.environment["PATH"], os.environ.get("PATH", "")])
    environment = {**os.environ, **tools.environment, "PATH": paths, OWNER: owner_marker()}
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        try:
            command = tools.command(argv, folder)
            return subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                check=False,
            ).returncode
        except OSError as error:
            output.write(f"{argv[0]}: {error.strerror}\n".encode())
            return 127  # a shell's exit code for a command that it cannot run


def _first_words(commands: Sequence[Sequence[str]]) -> str:
    return ", ".join(" ".join(argv[:2]) for argv in commands) or "nothing to do"


def last_line(text: str) -> str:
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "no output")


def _go_version(module: Path) -> str:
    """The Go version that go.mod requires."""
    try:
        lines = module.read_text().splitlines()
    except OSError:
        raise UserError("the generator's sources are missing", where=str(module)) from None
    return next((line.split()[1] for line in lines if line.startswith("go ")), "1")


def _goes_into_k6(path: Path) -> bool:
    return path.name in ("go.mod", "go.sum") or (path.suffix == ".go" and not path.name.endswith("_test.go"))
