"""A change without a meaning changes the named file, and the program remains valid."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushbench.calibration.meaningless import (
    BASES,
    CHANGES,
    PADDING_BYTES,
    comment,
    environment,
    is_read,
    layout,
    unused,
)
from pushbench.foundation.yamlfile import parse_yaml

YAML = "title: X\nenv: {A: b}\nprocess:\n  build:\n    - [env, CGO_ENABLED=0, go, build, '-ldflags=-s -w', -o, x, .]\n"


def build_of(text: str) -> Any:
    return layout({"server.yml": text}) and json.loads(layout({"server.yml": text})["server.yml"])["process"]["build"]


def test_a_comment_moves_every_line_of_the_sources_and_no_test() -> None:
    files = {"main.go": "package main\n", "main_test.go": "package main\n", "src/a.js": "#!/usr/bin/env node\nlet a;\n"}
    files |= {"src/main.rs": "#![deny(unsafe_code)]\n", "test/b.js": "let b;\n", "README.md": "x", "server.yml": YAML}
    changed = comment(files)
    assert sorted(changed) == ["main.go", "src/a.js", "src/main.rs"]
    assert changed["main.go"].startswith("//") and changed["main.go"].endswith("\npackage main\n")
    assert changed["src/a.js"].startswith("#!/usr/bin/env node\n//")
    assert changed["src/main.rs"].startswith("//")


def test_a_function_that_nothing_calls_has_another_name_in_each_file() -> None:
    found = unused({"a.py": "x = 1\n", "b.py": "y = 2\n"})
    spaces: list[dict[str, Any]] = [{}, {}]
    for space, path in zip(spaces, ("a.py", "b.py"), strict=True):
        exec(found[path], space)  # the text comes from the change itself
    assert spaces[0]["_unused0"](10) == spaces[1]["_unused1"](10) > 0


def test_a_java_function_stands_in_a_class_and_an_enum_stays_as_it_is() -> None:
    java = "package a;\n\npublic class A {\n  void b() {}\n}\n"
    changed = unused({"A.java": java, "E.java": "enum E { ONE }\n", "package-info.java": "package a;\n"})
    assert list(changed) == ["A.java"]
    assert changed["A.java"].rstrip().endswith("}\n}")
    assert "private static int unused0(int n)" in changed["A.java"]


def test_the_linker_gets_another_order_beside_the_flags_it_had() -> None:
    assert build_of(YAML) == [["env", "CGO_ENABLED=0", "go", "build", "-ldflags=-s -w -randlayout=7", "-o", "x", "."]]
    plain = YAML.replace("'-ldflags=-s -w', ", "")
    assert build_of(plain)[0][:5] == ["env", "CGO_ENABLED=0", "go", "build", "-ldflags=-randlayout=7"]
    rust = "process: {build: [[cargo, build, --release]]}\n"
    assert build_of(rust) == [["cargo", "rustc", "--release", "--", "-Clink-arg=-Wl,--shuffle-sections=.text*=7"]]
    assert layout({"server.yml": "process: {build: [[npm, ci]]}\n"}) == {}


def test_the_base_has_a_random_order_too() -> None:
    base, head = (each["layout"]({"server.yml": YAML})["server.yml"] for each in (BASES, CHANGES))
    assert base.replace("-randlayout=3", "-randlayout=7") == head != base


def test_the_environment_grows_and_keeps_what_it_had() -> None:
    changed = json.loads(environment({"server.yml": YAML})["server.yml"])
    assert changed["env"]["A"] == "b"
    assert len(changed["env"]["PADDING"]) == PADDING_BYTES
    assert {**changed, "env": {"A": "b"}} == parse_yaml(YAML, Path("server.yml")).data


@pytest.mark.parametrize(
    ("path", "read"), [("a/server.yml", True), ("b.go", True), ("c.png", False), ("d.json", False)]
)
def test_only_sources_and_the_description_are_read(path: str, read: bool) -> None:
    assert is_read(path) is read


def test_nothing_changes_where_there_is_nothing_to_change() -> None:
    assert {
        name: change({"server.yml": "title: X\n"}) for name, change in CHANGES.items() if name != "environment"
    } == {
        "comment": {},
        "unused": {},
        "layout": {},
    }
