"""The journal lines in the machine's README are what the programs print, word for word."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.runner.runner_double import RUNS, Api, ask, jobs, listed, run
from tests.runner.runner_double import api as api  # noqa: PLC0414 - a fixture
from tests.runner.runner_loop import Loop, offer
from tests.runner.runner_loop import loop as loop  # noqa: PLC0414 - a fixture
from tests.runner.runner_releases import archive, offered, renew

README = Path(__file__).parents[3] / "compose" / "runner" / "README.md"


def promised() -> list[str]:
    """The lines of the README's journals."""
    return [
        line for block in re.findall(r"```journal\n(.*?)```", README.read_text(), re.S) for line in block.split("\n")
    ]


@pytest.mark.slow
def test_each_line_of_the_journal_is_printed(api: Api, loop: Loop, tmp_path: Path) -> None:
    offer(loop)
    api.answers |= {RUNS: listed(run(2)), **jobs(2, 42)}
    printed = [ask(api, verb, tmp_path).stdout for verb in ("register", "admit")]
    printed.append(loop.run().stdout)
    for number, version in enumerate(("2.338.0", "2.339.0")):
        folder = tmp_path / f"renewal-{number}"
        folder.mkdir()
        offered(api, version, archive())
        printed.append(renew(api, folder).stdout)
    lines = "".join(printed).splitlines()
    wanted = [line for line in promised() if line]
    assert len(wanted) == 9
    for line in wanted:
        pattern = re.sub(r"<[a-z]+>", "[^ ]+", re.escape(line).replace(r"\<", "<").replace(r"\>", ">"))
        assert any(re.fullmatch(pattern, each) for each in lines), f"{line!r} is not among {lines}"
    turn = [line for line in lines if line.startswith("pushbench-runner: ")]
    assert [line for line in wanted if line.startswith("pushbench-runner: ")] == [
        re.sub(r"[0-9.]{5,}$", "<version>", line) for line in turn
    ]


def test_each_complaint_that_it_explains_is_one_of_a_program() -> None:
    table = README.read_text().partition("| what the journal says instead |")[2].partition("\n\n")[0]
    complaints = re.findall(r"^\| (?:nothing after )?`([^`]+)`", table, re.MULTILINE)
    assert len(complaints) >= 8
    programs = " ".join(path.read_text() for path in README.parent.iterdir() if path.suffix in {".py", ".sh"})
    assert [text for text in complaints if text not in programs] == []
