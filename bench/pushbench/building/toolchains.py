"""Toolchains on this machine: the installed one that satisfies a version specifier, or instructions to install one.

This module installs nothing. A toolchain that it does not list is a program of that name that answers `--version`.
"""

from __future__ import annotations

import functools
import glob
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pushbench.machine.processes import SYSTEM_PATH

PROBE_SECONDS = 20.0  # `mvn --version` starts a JVM, on a machine that may be busy


@dataclass(frozen=True)
class Toolchain:
    """An installed toolchain: programs in `folder`, or under other names in `commands`."""

    name: str
    version: str
    folder: Path
    commands: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Missing:
    """No installed toolchain satisfies the specifier."""

    name: str
    specifier: str
    found: Sequence[str]
    hint: str

    def __str__(self) -> str:
        found = f" (found {', '.join(self.found)})" if self.found else ""
        return f"needs {self.name} {self.specifier}{found}: {self.hint}"


@dataclass(frozen=True)
class Toolset:
    """The toolchains of one server."""

    chosen: Sequence[Toolchain] = ()

    @property
    def versions(self) -> dict[str, str]:
        return {each.name: each.version for each in self.chosen}

    @property
    def environment(self) -> dict[str, str]:
        """PATH with the toolchains first, and the other variables that they need."""
        folders = dict.fromkeys(str(each.folder) for each in self.chosen)
        variables = {"PATH": os.pathsep.join([*folders, SYSTEM_PATH])}
        for each in self.chosen:
            variables |= each.environment
        return variables

    def command(self, argv: Sequence[str], folder: Path) -> list[str]:
        """`argv` with its program resolved: in a toolchain, in `folder` if it is a path, or on the PATH."""
        program = argv[0]
        for each in self.chosen:
            if program in each.commands:
                return [each.commands[program], *argv[1:]]
        if "/" in program:
            return [str(folder / program), *argv[1:]]
        return [shutil.which(program, path=self.environment["PATH"]) or program, *argv[1:]]


def choose(specifiers: Mapping[str, str]) -> Toolset | list[Missing]:
    """A toolchain for every name, or all missing ones."""
    results = [find(name, specifier) for name, specifier in specifiers.items()]
    missing = [each for each in results if isinstance(each, Missing)]
    return missing or Toolset([each for each in results if isinstance(each, Toolchain)])


@functools.cache
def find(name: str, specifier: str) -> Toolchain | Missing:
    """The first installed toolchain that satisfies `specifier`: the user's choice (PATH, JAVA_HOME) comes first."""
    wanted = SpecifierSet(specifier)
    found = []
    for toolchain in _installed(name):
        if wanted.contains(toolchain.version, prereleases=True):
            return toolchain
        found.append(toolchain.version)
    return Missing(name, specifier, list(dict.fromkeys(found)), _HINTS.get(name, f"install {name} on the PATH"))


_HINTS = {
    "node": "install Node.js from https://nodejs.org/en/download or with your package manager",
    "npm": "npm comes with Node.js: https://nodejs.org/en/download",
    "python": "install it, with its venv module, from your package manager or https://www.python.org/downloads/",
    "java": "install a JDK, e.g. from https://adoptium.net, and set JAVA_HOME if it is not in /usr/lib/jvm",
    "maven": "install Maven from your package manager or https://maven.apache.org/download.cgi",
    "go": "install Go from https://go.dev/dl/",
    "cargo": "install Rust from https://rustup.rs",
    "bun": "install Bun from https://bun.sh",
    "redis-server": "install Redis from your package manager (redis-server) or https://redis.io/docs/latest/operate/",
    "rabbitmq-server": "install RabbitMQ from your package manager (rabbitmq-server) or https://www.rabbitmq.com",
    "mariadbd": "install MariaDB from your package manager (mariadb-server) or https://mariadb.org/download/",
}

_PROGRAMS = {"maven": "mvn"}
_ARGUMENTS = {"go": ["version"]}

_FURTHER_FOLDERS = {  # where installers put a toolchain without changing the PATH of a running shell
    "node": ["~/.nvm/versions/node/*/bin"],
    "mariadbd": ["/usr/sbin"],  # which is not on every user's PATH
    "maven": ["/opt/*maven*/bin", "~/.sdkman/candidates/maven/*/bin"],
    "go": ["/usr/local/go/bin", "/usr/lib/go-*/bin", "~/go/bin"],
    "cargo": ["~/.cargo/bin"],
    "bun": ["~/.bun/bin"],
    "python": ["~/.pyenv/versions/*/bin", "~/.local/share/uv/python/*/bin"],
}
_RABBITMQS = ["/usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin", "/opt/rabbitmq_server-*/sbin"]
_JDKS = ["/usr/lib/jvm/*", "/opt/*jdk*", "~/.sdkman/candidates/java/*", "~/.jdks/*"]


def _installed(name: str) -> Iterator[Toolchain]:
    match name:
        case "java":
            return _jdks()
        case "python":
            return _pythons()
        case "rabbitmq-server":
            return _rabbitmqs()
    return _programs(name)


def _programs(name: str) -> Iterator[Toolchain]:
    program = _PROGRAMS.get(name, name)
    for folder in _folders(name):
        path = folder / program
        if os.access(path, os.X_OK):
            version = _first_version(_output([str(path), *_ARGUMENTS.get(name, ["--version"])]))
            if version:
                yield Toolchain(name, version, folder)


def _pythons() -> Iterator[Toolchain]:
    """Interpreters that can create a virtual environment; Debian's may lack the module."""
    say = "import ensurepip, platform, sys, venv; print(platform.python_version(), sys.executable)"
    names = ["python3", *(f"python3.{minor}" for minor in range(20, 8, -1)), "python"]
    for path in (folder / name for folder in _folders("python") for name in names):
        version, _, executable = _output([str(path), "-c", say]).strip().partition(" ") if path.exists() else ("",) * 3
        if executable:
            commands = dict.fromkeys(("python", "python3"), executable)
            yield Toolchain("python", version, Path(executable).parent, commands)


def _rabbitmqs() -> Iterator[Toolchain]:
    """The installed RabbitMQs, with the version from the folder's name. Running the program to get its version would
    start it, and the program on the PATH would start as another user.
    """
    for folder in _newest_first(_RABBITMQS):
        version = re.search(r"rabbitmq_server-(\d+(?:\.\d+)*)", str(folder))
        if version and os.access(folder / "rabbitmq-server", os.X_OK):
            yield Toolchain("rabbitmq-server", version[1], folder)


def _jdks() -> Iterator[Toolchain]:
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    on_path = shutil.which("javac")
    homes += [Path(on_path).resolve().parents[1]] if on_path else []
    for home in dict.fromkeys([*homes, *_newest_first(_JDKS)]):
        release = home / "release"
        if (home / "bin" / "javac").exists() and release.exists():
            version = re.search(r'^JAVA_VERSION="([^"]+)"', release.read_text(), re.MULTILINE)
            if version and (known := _first_version(version[1])):
                yield Toolchain("java", known, home / "bin", environment={"JAVA_HOME": str(home)})


def _folders(name: str) -> Iterable[Path]:
    on_path = [Path(folder) for folder in os.environ.get("PATH", SYSTEM_PATH).split(os.pathsep) if folder]
    return dict.fromkeys([*on_path, *_newest_first(_FURTHER_FOLDERS.get(name, []))])


def _newest_first(patterns: Iterable[str]) -> list[Path]:
    paths = [Path(path) for pattern in patterns for path in glob.glob(str(Path(pattern).expanduser()))]  # noqa: PTH207
    return sorted(paths, key=lambda path: Version(_first_version(str(path)) or "0"), reverse=True)


def _output(argv: Sequence[str]) -> str:
    """The output of a program; empty if it cannot run, as is common for the shims of version managers."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout) if done.returncode == 0 else ""


def _first_version(text: str) -> str | None:
    found = re.search(r"\d+(\.\d+)*", text)
    return found[0] if found else None
