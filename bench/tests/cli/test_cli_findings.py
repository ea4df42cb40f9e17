"""`pushbench findings` as a user types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.reporting.all_servers import BEGIN, END
from tests.cli.checkouts import Checkout
from tests.factories import ENVIRONMENT, make_record, make_trial
from tests.records.capacity_entries import THREE, search


@pytest.fixture
def checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Checkout:
    found = Checkout(tmp_path, capsys, monkeypatch)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "findings.md").write_text(f"# Findings\n\n{BEGIN}\n{END}\n\nMore.\n")
    return found


def test_findings_keeps_records_and_writes_the_table(checkout: Checkout) -> None:
    file = checkout.root / "docs" / "findings.md"
    checkout.write(make_record([make_trial("node-ws")]))
    checkout.write_capacity(search(21, *THREE, environment=ENVIRONMENT))
    code, out, said = checkout("findings", "--add", "latest", "--add", "capacity")
    assert (code, out) == (0, "")
    assert said.splitlines()[:2] == [
        "kept docs/measured/whiteboard-20261121T101500Z-1a2b3c.json",
        "kept docs/measured/whiteboard-20261121T101500Z-1a2b3c.capacity.json",
    ]
    text = file.read_text()
    assert "| 1 | node-ws | 2.10 | 1 |" in text
    assert "| 5,200 [5,000 to 5,400] |" in text
    assert text.endswith(f"{END}\n\nMore.\n")
    assert checkout("findings")[2] == "docs/findings.md is unchanged\n"
    assert checkout("findings", "--check")[0] == 0


def test_check_fails_where_the_file_would_change_and_writes_nothing(checkout: Checkout) -> None:
    checkout.write(make_record([make_trial("node-ws")]))
    assert checkout("findings", "--add", "latest")[0] == 0
    file = checkout.root / "docs" / "findings.md"
    changed = file.read_text().replace("| 2.10 |", "| 1.10 |")
    file.write_text(changed)
    code, _, said = checkout("findings", "--check")
    assert (code, file.read_text()) == (1, changed)
    assert said == "docs/findings.md does not match the kept records: run `./pushbench findings`\n"


def test_another_environment_is_refused_and_the_file_stays(checkout: Checkout) -> None:
    file = checkout.root / "docs" / "findings.md"
    before = file.read_text()
    other = ENVIRONMENT.model_copy(update={"cpus": 64, "key": "ba9876543210"})
    for number, environment in enumerate((ENVIRONMENT, other)):
        checkout.write(
            make_record([make_trial("node-ws")], id=f"20261121T10150{number}Z-000000", environment=environment)
        )
    arguments = ["findings", "--add", "20261121T101500Z", "--add", "20261121T101501Z"]
    code, _, said = checkout(*arguments)
    assert code == 2
    assert said.splitlines()[-1].startswith("pushbench: ")
    assert "no ranking can contain both" in said
    assert file.read_text() == before
    assert list((checkout.root / "docs" / "measured").iterdir()) == [], "nothing is kept"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["findings"], "there is no compact record; `./pushbench findings --add latest` keeps the newest run"),
        (["findings", "--into", "nowhere.md"], "nowhere.md: no such file"),
        (["findings", "--add", "latest"], "there is no record yet"),
    ],
)
def test_what_is_missing_is_named(checkout: Checkout, arguments: list[str], said: str) -> None:
    code, _, err = checkout(*arguments)
    assert (code, said in err) == (2, True), err
