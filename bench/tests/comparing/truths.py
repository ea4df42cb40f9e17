"""Checkouts with a known regression in a real server, for the commands that must find it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from pushbench.foundation.project import Project

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True)
class Burn:
    """CPU that one function wastes: `code` is inserted after the line `after` of a file of the server."""

    server: str
    file: str
    after: str
    code: str
    function: str
    """as an explanation names it"""


# The JVM attributes samples to a function at its next safepoint, and a loop over an int may not have one.
_SHIFTS = "x ^= x << 13; x ^= x {right} 7; x ^= x << 17"
BURNS = {
    burn.server: burn
    for burn in (
        Burn(
            "node-ws",
            "src/boards.js",
            "  broadcast(boardId, frame) {\n",
            "    let x = 1;\n"
            f"    for (let i = 0; i < 60000; i += 1) {{ {_SHIFTS.format(right='>>>')}; }}\n"
            "    this.burnt = x;\n",
            "broadcast (src/boards.js",
        ),
        Burn(
            "fastapi",
            "app/boards.py",
            "    async def broadcast(self, board_id: str, text: str) -> None:\n",
            "        x = 1\n        for i in range(6000):\n            x ^= i\n",
            "Boards.broadcast (app/boards.py",
        ),
        Burn(
            "spring-websocket",
            "src/main/java/pushbench/whiteboard/Boards.java",
            "  void broadcast(String boardId, TextMessage message) {\n",
            "    long x = 1;\n"
            f"    for (long i = 0; i < 200000; i++) {{ {_SHIFTS.format(right='>>>')}; }}\n"
            "    if (x == 0) throw new IllegalStateException();\n",
            "Boards.broadcast (src/main/java/pushbench/whiteboard/Boards.java",
        ),
        Burn(
            "go",
            "board.go",
            "func (b *board) broadcast(frame []byte) (queued int) {\n",
            "\tx := uint64(1)\n"
            f"\tfor range 100000 {{\n\t\t{_SHIFTS.format(right='>>')}\n\t}}\n"
            "\tif x == 0 {\n\t\treturn 0\n\t}\n",
            "main.(*board).broadcast (board.go",
        ),
    )
}


def clone(folder: Path) -> Project:
    """A checkout of this repository's last commit, with the generator that has already been built."""
    git(ROOT, "clone", "--quiet", "--shared", "--no-tags", str(ROOT), str(folder))
    project = Project.at(folder)
    for name in ("user.name=Someone", "user.email=someone@example.org"):
        key, _, value = name.partition("=")
        git(folder, "config", key, value)
    built = ROOT / ".cache" / "pushbench" / "k6"
    if built.exists():
        shutil.copytree(built, project.cache / "k6")  # building another generator would remove a shared one
    return project


def commit(project: Project, subject: str) -> str:
    """Commit everything, and return the name of the commit."""
    git(project.root, "add", "--all")
    git(project.root, "commit", "--quiet", "--message", subject)
    return git(project.root, "rev-parse", "HEAD")


def burn(project: Project, what: Burn) -> None:
    """Insert the burn into the server's source."""
    path = project.servers / what.server / what.file
    text = path.read_text()
    assert text.count(what.after) == 1, f"{path} has changed: name the function's first line in {__name__}"
    path.write_text(text.replace(what.after, what.after + what.code))


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()
