"""Guesses how a server is built and started, from the files of its repository. Pure."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

Commands = list[list[str]]

READ = ("package.json", "Procfile", "go.mod", "Cargo.toml")
"""files whose content matters; for the others, the names are enough"""
SHELL = re.compile(r"[$&|;<>*`]|^\w+=")
"""text that only a shell interprets"""
PROGRAMS = {
    "node": ("node", "npm", "npx"),
    "python": ("python", "python3", "uvicorn", "gunicorn"),
    "go": ("go",),
    "cargo": ("cargo",),
    "maven": ("mvn",),
    "java": ("java",),
    "bun": ("bun",),
}
OLDEST = {"node": ">=20", "python": ">=3.11", "go": ">=1.22", "cargo": ">=1.80", "java": ">=17", "maven": ">=3.8"}
"""Older versions may work: the file is for its author to change."""
LANGUAGES = {"node": "JavaScript", "bun": "JavaScript", "python": "Python", "go": "Go", "cargo": "Rust", "java": "Java"}
GO_PRODUCT = ".pushbench-server"
MAIN_FILES = ("server.js", "index.js", "app.js", "src/server.js", "src/index.js")
MAIN_MODULES = ("server.py", "app.py", "main.py")


@dataclass(frozen=True)
class Guess:
    """Commands, as argument lists. `start` is empty if no guess is possible."""

    build: Commands = field(default_factory=list)
    start: list[str] = field(default_factory=list)
    products: tuple[str, ...] = ()
    """the build's output, which git should ignore"""


def guess(names: Iterable[str], texts: Mapping[str, str]) -> Guess:
    """The guess from the files of a repository; `texts` has the content of the files in READ."""
    names = set(names)
    for file, found in (("package.json", _node), ("go.mod", _go), ("Cargo.toml", _rust), ("requirements.txt", _python)):
        if file in names:
            return found(names, texts)
    return Guess(start=_from_procfile(texts))


def argv_of(line: str) -> list[str]:
    """A command as typed by a user, run by a shell if only a shell interprets it. Raises ValueError."""
    if SHELL.search(line):
        return ["sh", "-c", line if re.search(r"[&|;]", line) else f"exec {line}"]
    found = shlex.split(line)
    if not found:
        raise ValueError("expected a command")
    return found


def as_line(argv: list[str]) -> str:
    """The command as a user would type it."""
    return argv[2] if argv[:2] == ["sh", "-c"] else shlex.join(argv)


def toolchains_of(commands: Commands) -> dict[str, str]:
    """The toolchains that the commands need: those that Pushbench also finds outside of the system's own folders."""
    words = {each for argv in commands for each in (argv if argv[:2] != ["sh", "-c"] else re.split(r"\W+", argv[2]))}
    found = [name for name, programs in PROGRAMS.items() if words & set(programs)]
    if "maven" in found and "java" not in found:
        found.append("java")
    return {name: OLDEST.get(name, ">=0") for name in found}


def language_of(toolchains: Mapping[str, str]) -> str:
    return next((LANGUAGES[name] for name in toolchains if name in LANGUAGES), "unknown")


def _node(names: set[str], texts: Mapping[str, str]) -> Guess:
    try:
        package: Any = json.loads(texts.get("package.json", ""))
    except ValueError:
        package = {}
    package = package if isinstance(package, dict) else {}
    scripts = package.get("scripts") if isinstance(package.get("scripts"), dict) else {}
    build: Commands = []
    if "package-lock.json" in names:
        build.append(["npm", "ci"])
    elif package.get("dependencies") or package.get("devDependencies"):
        build.append(["npm", "install", "--no-audit", "--no-fund"])
    if "build" in scripts:
        build.append(["npm", "run", "build"])
    started = str(scripts.get("start", ""))
    main = package.get("main") or next((each for each in MAIN_FILES if each in names), None)
    # A start by npm leaves a shell between Pushbench and the server, which then gets no SIGTERM.
    if re.match(r"node\s", started) and not SHELL.search(started):
        start = shlex.split(started)
    elif main:
        start = ["node", str(main)]
    else:
        start = ["npm", "start"] if started else []
    return Guess(build, start, ("node_modules",) if build else ())


def _go(names: set[str], texts: Mapping[str, str]) -> Guess:
    return Guess([["go", "build", "-o", GO_PRODUCT, "."]], [f"./{GO_PRODUCT}"], (GO_PRODUCT,))


def _rust(names: set[str], texts: Mapping[str, str]) -> Guess:
    name = re.search(r'^name\s*=\s*"([^"]+)"', texts.get("Cargo.toml", ""), re.MULTILINE)
    start = [f"target/release/{name[1]}"] if name else []
    return Guess([["cargo", "build", "--release"]], start, ("target",))


def _python(names: set[str], texts: Mapping[str, str]) -> Guess:
    install = [".venv/bin/python", "-m", "pip", "install", "-r", "requirements.txt"]
    main = next((each for each in MAIN_MODULES if each in names), None)
    start = [".venv/bin/python", main] if main else _in_venv(_from_procfile(texts))
    return Guess([["python", "-m", "venv", ".venv"], install], start, (".venv",))


def _in_venv(argv: list[str]) -> list[str]:
    return [f".venv/bin/{argv[0]}", *argv[1:]] if argv and argv[0] != "sh" else argv


def _from_procfile(texts: Mapping[str, str]) -> list[str]:
    web = re.search(r"^web:\s*(.+)$", texts.get("Procfile", ""), re.MULTILINE)
    return argv_of(web[1].strip()) if web else []
