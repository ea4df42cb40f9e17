"""The commands of a server are guessed from its files; the user is asked for the rest."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pushbench.authoring.guessing import Guess, argv_of, as_line, guess, toolchains_of

VENV = [["python", "-m", "venv", ".venv"], [".venv/bin/python", "-m", "pip", "install", "-r", "requirements.txt"]]


def node(package: Any, *names: str) -> Guess:
    return guess(["package.json", *names], {"package.json": json.dumps(package)})


def test_node_is_started_as_its_script_says_without_npm_between() -> None:
    found = node({"scripts": {"start": "node src/chat.js --quiet"}}, "package-lock.json")
    assert found == Guess([["npm", "ci"]], ["node", "src/chat.js", "--quiet"], ("node_modules",))


@pytest.mark.parametrize(
    ("package", "names", "build", "start"),
    [
        ({"main": "chat.js"}, [], [], ["node", "chat.js"]),
        (
            {"dependencies": {"ws": "8"}},
            ["index.js"],
            [["npm", "install", "--no-audit", "--no-fund"]],
            ["node", "index.js"],
        ),
        ({"scripts": {"build": "tsc", "start": "A=1 node x"}}, [], [["npm", "run", "build"]], ["npm", "start"]),
        ([], [], [], []),
        ({"scripts": "none"}, [], [], []),
    ],
)
def test_node_without_a_plain_script(package: Any, names: list[str], build: Any, start: list[str]) -> None:
    found = node(package, *names)
    assert (found.build, found.start) == (build, start)


PRODUCT = ".pushbench-server"
UVICORN = {"Procfile": "web: uvicorn chat:app --port $PORT\n"}
BY_SHELL = ["sh", "-c", "exec uvicorn chat:app --port $PORT"]
CARGO = {"Cargo.toml": '[package]\nname = "chat"\n'}


@pytest.mark.parametrize(
    ("names", "texts", "expected"),
    [
        (["go.mod"], {}, Guess([["go", "build", "-o", PRODUCT, "."]], [f"./{PRODUCT}"], (PRODUCT,))),
        (["Cargo.toml"], CARGO, Guess([["cargo", "build", "--release"]], ["target/release/chat"], ("target",))),
        (["requirements.txt", "app.py"], {}, Guess(VENV, [".venv/bin/python", "app.py"], (".venv",))),
        (["requirements.txt", "Procfile"], UVICORN, Guess(VENV, BY_SHELL, (".venv",))),
        (["Procfile"], {"Procfile": "web: bin/chat\n"}, Guess([], ["bin/chat"])),
        (["README"], {}, Guess()),
    ],
)
def test_other_runtimes(names: list[str], texts: dict[str, str], expected: Guess) -> None:
    assert guess(names, texts) == expected


@pytest.mark.parametrize(
    ("line", "argv"),
    [
        ("node 'a b.js'", ["node", "a b.js"]),
        ("./chat --port $PORT", ["sh", "-c", "exec ./chat --port $PORT"]),
        ("cd x && ./chat", ["sh", "-c", "cd x && ./chat"]),
    ],
)
def test_a_shell_runs_only_what_needs_one(line: str, argv: list[str]) -> None:
    assert argv_of(line) == argv


def test_a_command_is_shown_as_somebody_types_it() -> None:
    assert as_line(argv_of("node 'a b.js'")) == "node 'a b.js'"
    assert as_line(argv_of("a | b")) == "a | b"


def test_toolchains_are_those_of_the_commands() -> None:
    assert toolchains_of([["npm", "ci"], ["node", "x.js"]]) == {"node": ">=20"}
    assert toolchains_of([["mvn", "package"]]) == {"maven": ">=3.8", "java": ">=17"}
    assert toolchains_of([["sh", "-c", "exec python server.py $PORT"]]) == {"python": ">=3.11"}
    assert toolchains_of([["bin/chat"]]) == {}
