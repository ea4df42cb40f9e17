"""Real comparisons with known answers, kept small: their verdicts change only on purpose.

`PUSHBENCH_GOLDEN=write pytest tests/judging/test_corpus.py` rewrites the expected verdicts. Read them before you keep
them.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from pushbench.judging.thresholds import Thresholds
from pushbench.judging.thresholds_reader import read_thresholds
from pushbench.judging.verdict import judge
from pushbench.records import store
from tests.factories import known_suite

DATA = Path(__file__).parents[1] / "data"
RECORDS = sorted(DATA.glob("*/20*.json"))
EXPECTED = DATA / "expected.json"


@pytest.fixture(scope="module")
def thresholds() -> Thresholds:
    """The thresholds of the corpus, which never change."""
    servers = dict.fromkeys(("node-ws", "fastapi", "spring-websocket"), "whiteboard")
    return read_thresholds(DATA / "thresholds.yml", suites={"whiteboard": known_suite()}, servers=servers)


def summary(path: Path, thresholds: Thresholds) -> dict[str, Any]:
    record = store.read_record(path)
    verdict = judge(record, thresholds)
    assert record.comparison
    return {
        "injected": record.comparison.injected,
        "outcome": verdict.outcome,
        "reasons": verdict.reasons,
        "words": {f"{each.server} {each.metric}": each.word for each in verdict.changes},
    }


@pytest.mark.slow
def test_every_record_of_the_corpus_gets_the_verdict_that_was_read_and_kept(thresholds: Thresholds) -> None:
    found = {path.stem: summary(path, thresholds) for path in RECORDS}
    if os.environ.get("PUSHBENCH_GOLDEN") == "write":
        EXPECTED.write_text(json.dumps(found, indent=2) + "\n")
    assert found == json.loads(EXPECTED.read_text())


def test_the_corpus_has_what_the_claims_rest_on() -> None:
    """At least 60 trials of each server against itself, and 30 with a slowdown of a tenth."""
    trials: dict[tuple[str, str], int] = {}
    for path in RECORDS:
        record = store.read_record(path)
        assert record.comparison
        if record.comparison.fixed:
            for trial in record.trials:
                if record.comparison.injected == "none" or trial.arm == "head":
                    key = trial.server, str(record.comparison.injected)
                    trials[key] = trials.get(key, 0) + trial.validity.valid
    for server in ("node-ws", "fastapi", "spring-websocket"):
        assert trials[server, "none"] >= 60, server
    assert trials["node-ws", "burn=10%"] >= 30
