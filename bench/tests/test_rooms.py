"""The rooms of the Python package are those of the ladder in docs/architecture.md, and no import leads up it."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[1]
PACKAGE, TESTS = BENCH / "pushbench", BENCH / "tests"
DOCUMENT = BENCH.parent / "docs" / "architecture.md"
HEADING = "## Rooms of the Python package\n"
ROW = re.compile(r"^\| (\d+) \| `(\w+)` \| .+ \|$", re.MULTILINE)
OUTSIDE = {"__init__", "__main__"}
"""modules beside the rooms: the version, and the way into the command line"""
OTHER_TESTS = {"cluster", "fuzz", "runner", "workflows"}
"""test folders that belong to no room"""


def ladder(text: str) -> dict[str, int]:
    """The step of each room; the lowest is 1."""
    return {room: int(step) for step, room in ROW.findall(section(text))}


def section(text: str) -> str:
    return text.partition(HEADING)[2].partition("\n## ")[0]


def modules(package: Path) -> dict[str, Path]:
    """The files of all modules by their dotted names below the package; a room's `__init__.py` has the room's name."""
    found = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imports(file: Path) -> Iterator[tuple[int, str]]:
    """Line and dotted name of each import from the package, including imports in functions and only for types."""
    for node in statements(ast.parse(file.read_text()).body):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            source = "." * node.level + (node.module or "")
            names = [f"{source}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from ((node.lineno, name) for name in names if name.split(".")[0] in ("pushbench", ""))


def statements(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """The statements of a body and of all bodies in it. Expressions, most of the nodes, contain no import: left out."""
    for node in body:
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            yield from statements(getattr(node, part, ()))


def room_of(imported: str) -> str:
    """`metrics` of `pushbench.metrics.units`."""
    return imported.partition(".")[2].partition(".")[0]


def upward(package: Path, steps: Mapping[str, int]) -> Iterator[str]:
    """A sentence for each module without a room, and for each import that is not from the same room or a lower step."""
    for name, file in modules(package).items():
        room, place = name.partition(".")[0], file.relative_to(package.parent)
        if room not in steps:
            if name and room not in OUTSIDE:
                yield f"{place} is in no room of the ladder"
            continue
        for line, imported in imports(file):
            other = room_of(imported)
            if imported.startswith("."):
                yield f"{place}:{line}: write the whole name of what is imported, not {imported}"
            elif other in steps and other != room and steps[other] >= steps[room]:
                yield f"{place}:{line}: {room} (step {steps[room]}) imports {imported} of {other} (step {steps[other]})"


STEPS = ladder(DOCUMENT.read_text())


@pytest.mark.slow
def test_no_import_leads_up_the_ladder() -> None:
    wrong = list(upward(PACKAGE, STEPS))
    assert not wrong, "\n".join(wrong)


def test_the_ladder_names_each_room_once_from_the_top_to_the_bottom() -> None:
    there = {file.parent.name for file in PACKAGE.glob("*/*.py")}
    assert {room: "is no folder" for room in STEPS if room not in there} == {}
    assert {room: "is not in the ladder" for room in there if room not in STEPS} == {}
    steps = [int(step) for step, _ in ROW.findall(section(DOCUMENT.read_text()))]
    assert steps == sorted(steps, reverse=True)
    assert set(steps) == set(range(1, steps[0] + 1))
    assert len(steps) == len(STEPS)


def test_where_newcomers_are_sent_there_is_something() -> None:
    named = re.findall(r"`([\w./-]+[/.][\w-]*)`", section(DOCUMENT.read_text()))
    missing = [path for path in named if not (PACKAGE / path).exists() and not (BENCH.parent / path).exists()]
    assert "metrics/definitions.py" in named
    assert missing == []


@pytest.mark.parametrize("room", STEPS)
def test_a_room_says_what_it_holds(room: str) -> None:
    said = ast.get_docstring(ast.parse((PACKAGE / room / "__init__.py").read_text())) or ""
    assert 1 <= len([line for line in said.splitlines() if line]) <= 3


def test_the_test_of_a_module_is_in_the_folder_of_its_room() -> None:
    """A test has the name of its module, and imports it or runs it as a command."""
    rooms = defaultdict(set)
    for name in modules(PACKAGE):
        room, _, module = name.rpartition(".")
        rooms[module].add(room.partition(".")[0])
    misplaced = []
    for file in TESTS.rglob("test_*.py"):
        folder, module = file.relative_to(TESTS).parts[0], file.stem.removeprefix("test_")
        at_home = {module, *rooms[module], *OTHER_TESTS}
        if rooms[module] and folder not in at_home and folder not in {room_of(name) for _, name in imports(file)}:
            misplaced.append(f"{file.relative_to(TESTS)} belongs to {' or '.join(sorted(rooms[module]))}")
    assert not misplaced, "\n".join(misplaced)


def test_each_room_has_tests_and_each_folder_of_tests_a_room() -> None:
    folders = {file.relative_to(TESTS).parts[0] for file in TESTS.glob("*/**/test_*.py")}
    assert folders - OTHER_TESTS == set(STEPS)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("from pushbench.high.roof import tile", "low (step 1) imports pushbench.high.roof.tile of high (step 2)"),
        ("def f():\n    import pushbench.high.roof", "low (step 1) imports pushbench.high.roof of high (step 2)"),
        ("from pushbench import high", "low (step 1) imports pushbench.high of high (step 2)"),
        ("if TYPE_CHECKING:\n    from pushbench.beside import x", "imports pushbench.beside.x of beside (step 1)"),
        ("from .. import high", "write the whole name"),
    ],
)
def test_an_import_that_leads_up_is_named_with_its_module_and_line(tmp_path: Path, source: str, told: str) -> None:
    steps = {"high": 2, "low": 1, "beside": 1}
    for room in steps:
        (tmp_path / "pushbench" / room).mkdir(parents=True)
    (tmp_path / "pushbench/high/roof.py").write_text(
        "from pushbench.low import cellar\nfrom pushbench import __version__"
    )
    (tmp_path / "pushbench/low/cellar.py").write_text(f"import os\n{source}\n")
    [said] = upward(tmp_path / "pushbench", steps)
    assert said.startswith(f"pushbench/low/cellar.py:{1 + len(source.splitlines())}: ")
    assert told in said


def test_a_module_beside_the_rooms_is_told(tmp_path: Path) -> None:
    (tmp_path / "pushbench" / "attic").mkdir(parents=True)
    for name in ("__init__", "__main__", "stray", "attic/box"):
        (tmp_path / f"pushbench/{name}.py").write_text("")
    assert list(upward(tmp_path / "pushbench", {"low": 1})) == [
        "pushbench/attic/box.py is in no room of the ladder",
        "pushbench/stray.py is in no room of the ladder",
    ]
