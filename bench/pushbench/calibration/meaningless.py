"""Meaningless changes of a server: a comment, an unused function, another link order, a larger environment. Pure.

Each moves code or data in memory, which may affect the server's cost (Mytkowicz, Diwan, Hauswirth and Sweeney:
Producing Wrong Data Without Doing Anything Obviously Wrong, ASPLOS 2009). `bias` has their cost here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path, PurePosixPath

from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import parse_yaml

Files = Mapping[str, str]
"""texts by path, relative to the folder of the server"""
Change = Callable[[Files], dict[str, str]]
"""the new texts of the files that change"""

DESCRIPTION = "server.yml"
LANGUAGES = ("Go", "Java", "JavaScript", "Python", "Rust", "TypeScript")
"""languages that can get a comment and a function"""
PADDING_BYTES = 3000
"""of environment; the stack of a process begins below it"""
LAYOUTS = (3, 7)
"""seeds of the orders in which a linker places the functions of the base, and of the head"""
_SLASHES = "// A comment, which changes nothing but the number of each line after it.\n" * 3
_COMMENTS: Mapping[str, str] = {
    **dict.fromkeys((".go", ".java", ".js", ".mjs", ".rs", ".ts"), _SLASHES),
    ".py": _SLASHES.replace("//", "#"),
}
_LOOP = "  let sum = 0;\n  for (let i = 0; i < n; i += 1) sum = (sum * 31 + i) % 65521;\n  return sum;\n"
_FUNCTIONS: Mapping[str, str] = {
    ".go": "\nfunc unused{number}(n int) int {{\n\tsum := 0\n\tfor i := range n {{\n\t\tsum = (sum*31 + i) % 65521\n"
    "\t}}\n\treturn sum\n}}\n",
    ".java": "\n  private static int unused{number}(int n) {{\n    int sum = 0;\n    for (int i = 0; i < n; i++) {{\n"
    "      sum = (sum * 31 + i) % 65521;\n    }}\n    return sum;\n  }}\n",
    ".rs": "\n#[allow(dead_code)]\nfn unused{number}(n: u64) -> u64 {{\n"
    "    (0..n).fold(0, |sum, i| (sum * 31 + i) % 65521)\n}}\n",
    ".py": "\n\ndef _unused{number}(n):\n    total = 0\n    for i in range(n):\n"
    "        total = (total * 31 + i) % 65521\n    return total\n",
    **dict.fromkeys((".js", ".mjs"), "\nfunction unused{number}(n) {{\n" + _LOOP.replace("{", "{{") + "}}\n"),
    ".ts": "\nexport function unused{number}(n: number): number {{\n" + _LOOP.replace("{", "{{") + "}}\n",
}
_JAVA_CLASS = re.compile(r"^(public |final |abstract )*(class|record) ", re.MULTILINE)


def comment(files: Files) -> dict[str, str]:
    """A comment at the beginning of each source file, below a line that names an interpreter."""
    return {path: _commented(text, _COMMENTS[_kind(path)]) for path, text in files.items() if _is_source(path)}


def unused(files: Files) -> dict[str, str]:
    """An uncalled function in each source file."""
    changed = {}
    for number, (path, text) in enumerate(sorted(files.items())):
        if not _is_source(path):
            continue
        function = _FUNCTIONS[_kind(path)].format(number=number)
        if _kind(path) != ".java":
            changed[path] = text + function
        elif _JAVA_CLASS.search(text):
            body, brace, rest = text.rpartition("}")
            changed[path] = body + function + brace + rest
    return changed


def layout(files: Files, seed: int = LAYOUTS[1]) -> dict[str, str]:
    """A random order of the functions in the program, by its linker; empty if nothing is linked."""
    return _described(files, partial(_linked_otherwise, seed=seed))


def environment(files: Files) -> dict[str, str]:
    """An additional variable in the server's environment."""

    def larger(described: dict[str, object]) -> bool:
        known = described.get("env")
        described["env"] = {**(known if isinstance(known, dict) else {}), "PADDING": "x" * PADDING_BYTES}
        return True

    return _described(files, larger)


CHANGES: Mapping[str, Change] = {
    "comment": comment,
    "unused": unused,
    "layout": layout,
    "environment": environment,
}
BASES: Mapping[str, Change] = {"layout": partial(layout, seed=LAYOUTS[0])}
"""the changes of a base. A random order is compared with another one: it scatters functions that call each other, which
neither the linker's own order nor any commit does."""


def is_read(path: str) -> bool:
    """Whether the changes may read a file: a source, or the description of the server."""
    return _kind(path) in _FUNCTIONS or PurePosixPath(path).name == DESCRIPTION


def _commented(text: str, added: str) -> str:
    first, newline, rest = text.partition("\n")
    return first + newline + added + rest if first.startswith("#!") and "[" not in first else added + text


def _kind(path: str) -> str:
    return PurePosixPath(path).suffix


def _is_source(path: str) -> bool:
    """Whether a file is part of the program, and not of its tests."""
    parts = PurePosixPath(path)
    tests = any(part in ("test", "tests") for part in parts.parts) or parts.stem.endswith(("_test", ".test"))
    return _kind(path) in _FUNCTIONS and not tests and parts.stem not in ("tests", "package-info", "module-info")


def _described(files: Files, change: Callable[[dict[str, object]], bool]) -> dict[str, str]:
    """The description with a change; empty if `change` returns False. JSON is YAML."""
    described = parse_yaml(files[DESCRIPTION], Path(DESCRIPTION)).data
    if not isinstance(described, dict):
        raise UserError("expected keys and values", where=DESCRIPTION)
    return {DESCRIPTION: json.dumps(described, indent=2) + "\n"} if change(described) else {}


def _linked_otherwise(described: dict[str, object], *, seed: int) -> bool:
    process = described.get("process")
    steps = process.get("build") if isinstance(process, dict) else None
    if not isinstance(process, dict) or not isinstance(steps, list):
        return False
    changed = [_with_layout([str(word) for word in step], seed) for step in steps if isinstance(step, list)]
    process["build"] = changed
    return changed != steps


def _with_layout(command: list[str], seed: int) -> list[str]:
    """The build command with a random order of functions; Go's linker and LLD, which Rust uses, support it."""
    if "go" in command and "build" in command:
        flags = next((word for word in command if word.startswith("-ldflags=")), "-ldflags=")
        more = f"{flags} -randlayout={seed}".replace("= ", "=")
        others = [word for word in command if word != flags]
        at = others.index("build") + 1
        return [*others[:at], more, *others[at:]]
    if command[:2] == ["cargo", "build"]:
        return ["cargo", "rustc", *command[2:], "--", f"-Clink-arg=-Wl,--shuffle-sections=.text*={seed}"]
    return command
