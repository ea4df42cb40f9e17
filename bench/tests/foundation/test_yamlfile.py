"""Every mistake in a YAML file is reported with file, line, expected value and found value."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Literal

import pytest
from pydantic import Field, PositiveInt

from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.foundation.yamlfile import MOST_BYTES, MOST_NODES, load_yaml, parse_yaml


class Inner(Document):
    start: list[str]
    kind: Literal["small", "large"] = "small"
    build: list[list[str]] = []
    env: dict[str, str] = {}


class Outer(Document):
    title: str
    size: PositiveInt | None = None
    process: Inner = Field(default=Inner(start=["x"]))
    others: dict[str, Inner] = {}


GOOD = "title: A title\nprocess:\n  start: [node, x.js]\n"


def problem(tmp_path: Path, text: str) -> str:
    path = tmp_path / "server.yml"
    path.write_text(text)
    with pytest.raises(UserError) as raised:
        load_yaml(path, Outer)
    return str(raised.value).replace(f"{tmp_path}/", "")


def test_a_good_file_is_a_model(tmp_path: Path) -> None:
    path = tmp_path / "server.yml"
    path.write_text(GOOD)
    assert load_yaml(path, Outer).process.start == ["node", "x.js"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "title: x\nprocess:\n  start: node\n",
            "server.yml:3: process.start: expected a list of strings, found the string 'node'",
        ),
        (
            "title: x\nprocess:\n  start: [1]\n",
            "server.yml:3: process.start.0: expected a string, found the number 1",
        ),
        (
            "title: x\nprocess: {start: [a], build: [a]}\n",
            "server.yml:2: process.build.0: expected a list of strings, found the string 'a'",
        ),
        ("process: {start: [a]}\n", "server.yml:1: title: missing; expected a string"),
        ("title: x\nprocess:\n  kind: large\n", "server.yml:2: process.start: missing; expected a list of strings"),
        ("title: x\nothers:\n  one: 3\n", "server.yml:3: others.one: expected a mapping, found the number 3"),
        (
            "title: x\nprocess:\n  start: [a]\n  kind: tall\n",
            "server.yml:4: process.kind: expected 'small' or 'large', found the string 'tall'",
        ),
        ("title: x\nsize: -1\n", "server.yml:2: size: Input should be greater than 0, found the number -1"),
        ("title: x\ntitel: y\n", "server.yml:2: titel: unknown key; did you mean title?"),
        (
            "title: x\nprocess: {start: [a], colour: red}\n",
            "server.yml:2: process.colour: unknown key; known keys: start, kind, build, env",
        ),
        ("", "server.yml:1: expected a mapping, found nothing"),
        ("- a\n", "server.yml:1: expected a mapping, found a list"),
        ("title: [a\nsize: 3\n", "server.yml:2: not valid YAML: did not find expected ',' or ']'"),
        ("title: x\nsize: 3\ntitle: y\n", 'server.yml:3: not valid YAML: found duplicate key "title"'),
        ("title: x\n[a]: 3\n", "server.yml:2: not valid YAML: a key must be plain text"),
        ("title: !!python/name:os.system\n", "server.yml:1: not valid YAML: could not determine a constructor"),
    ],
)
def test_a_mistake_is_told_where_it_is(tmp_path: Path, text: str, told: str) -> None:
    assert problem(tmp_path, text).startswith(told)


def test_the_first_of_several_mistakes_is_told(tmp_path: Path) -> None:
    assert problem(tmp_path, "title: 3\nsize: big\n").startswith("server.yml:1: title:")


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nothing\.yml: no such file"):
        load_yaml(tmp_path / "nothing.yml", Outer)


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    path = tmp_path / "server.yml"
    path.write_bytes(b"\xff\xfe\x00\x01")
    with pytest.raises(UserError, match=r"server\.yml: cannot be read"):
        load_yaml(path, Outer)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("1:30", "1:30"),
        ("1_000", "1_000"),
        ("true", True),
        ("~", None),
        ("010", 10),
        ("0x1f", 31),
        ("0o17", 15),
        ("-7", -7),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("1.", 1.0),
        ("2026-12-01", date(2026, 12, 1)),
        ("2026-12-01T10:00:00Z", "2026-12-01T10:00:00Z"),
        ("'7'", "7"),
    ],
)
def test_plain_values_have_the_types_of_yaml_1_2(tmp_path: Path, text: str, value: object) -> None:
    read = parse_yaml(f"x: {text}\n", tmp_path / "x.yml").data["x"]
    assert (type(read), read) == (type(value), value)


LEVELS = "bcdefghi"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x" * (MOST_BYTES + 1), f"larger than {MOST_BYTES:,} bytes"),
        (f"title: [{'a,' * MOST_NODES}]\n", "more than 10,000 keys and values"),
        ("[" * MOST_BYTES, "nested deeper than 50 levels"),
        ("{a: " * 10_000, "nested deeper than 50 levels"),
        ("- " * 30_000, "nested deeper than 50 levels"),
        ("\n".join(f"{' ' * depth}a:" for depth in range(60)), "nested deeper than 50 levels"),
        ("title: &a [*a]\n", "an alias of a value that contains it"),
        ("title: " + "1" * 5000, "a value that cannot be read"),
        ("title: 2026-13-40\n", "a value that cannot be read"),
        ("title: !!int x\n", "a value that cannot be read"),
        ("title: !!bool x\n", "a value that cannot be read"),
    ],
)
def test_a_file_that_would_take_the_machine_is_refused(tmp_path: Path, text: str, told: str) -> None:
    assert told in problem(tmp_path, text)


@pytest.mark.parametrize("alias", ["[{}]", "{{<<: [{}]}}"])
def test_aliases_count_as_what_they_stand_for(tmp_path: Path, alias: str) -> None:
    """Both took 40 s and 4 GB: nine aliases of nine aliases, eight levels deep, as lists and as merged mappings."""
    levels = (f"{name}: &{name} {alias.format(','.join(9 * [f'*{chr(ord(name) - 1)}']))}\n" for name in LEVELS)
    assert "with aliases expanded" in problem(tmp_path, "a: &a {x: 1}\n" + "".join(levels))


def test_a_wrong_value_is_shown_cut(tmp_path: Path) -> None:
    assert len(problem(tmp_path, f"title: x\nsize: {'y' * 5000}\n")) < 400
