"""The server that CONTRIBUTING.md explains how to add is added here, word for word, and does all that is promised."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.bare_checkouts import CHECKOUT, environment_of, make_bare_checkout

pytestmark = [pytest.mark.slow, pytest.mark.early]


def example_files() -> dict[str, str]:
    """The two code blocks of "Add a server", by file name."""
    text = (CHECKOUT.root / "CONTRIBUTING.md").read_text()
    blocks = {kind: re.search(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL) for kind in ("yaml", "js")}
    assert blocks["yaml"] and blocks["js"]
    return {"server.yml": blocks["yaml"][1], "server.mjs": blocks["js"][1]}


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    """A checkout with only the example."""
    folder = tmp_path / "servers" / "example"
    folder.mkdir(parents=True)
    for name, content in example_files().items():
        (folder / name).write_text(content)
    return make_bare_checkout(tmp_path)


def pushbench(catalog: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(CHECKOUT.root / "pushbench"), *arguments]
    return subprocess.run(command, env=environment_of(catalog), capture_output=True, text=True, check=False)


def test_the_documented_server_is_found_conforms_and_is_measured(catalog: Path) -> None:
    assert "example" in pushbench(catalog, "servers").stdout

    verified = pushbench(catalog, "verify", "example")
    assert verified.returncode == 0, verified.stdout + verified.stderr

    measured = pushbench(catalog, "run", "--servers", "example", "--profile", "smoke")
    assert measured.returncode in (0, 3), measured.stderr  # 3: the machine is too busy for a valid trial
    assert "nothing lost" in measured.stderr or "invalid" in measured.stderr
    assert list((catalog / "out" / "records").glob("*.json"))
