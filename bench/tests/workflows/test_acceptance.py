"""A pull request that slows a server down on purpose accepts this in thresholds.yml, and is not red for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pushbench.ci.result import parse_results, unzip
from tests.workflows.forge import Forge
from tests.workflows.played import of, reported, require, skip_where_disturbed, slower
from tests.workflows.small_suite import CLIENTS, compare_only

pytestmark = [pytest.mark.workflows, pytest.mark.alone]

ACCEPTS = """\
servers:
  node-ws:
    whiteboard:
      accepted:
        delivery_seconds.p50: {level: 100ms, reason: "it thinks about each draw", until: 2099-01-01}
"""


def slower_on_purpose(work: Path) -> None:
    slower(work)
    file = work / "thresholds.yml"
    until = (datetime.now(UTC).date() + timedelta(days=80)).isoformat()
    file.write_text(file.read_text() + ACCEPTS.replace("2099-01-01", until))


def test_an_accepted_regression_passes_and_is_shown_with_its_reason(tmp_path: Path) -> None:
    forge = Forge(tmp_path, change=lambda work: compare_only(work, "delivery_seconds.p50"))
    payload = forge.pull_request(slower_on_purpose, "Think about each draw, as everybody wants")
    played = forge.act("pull_request", payload, "bench.yml", at="change")
    skip_where_disturbed(forge)
    found = parse_results(unzip(forge.artifact("results")), "results")
    assert [each.step.kind for each in found.result.steps] == ["compare"], "thresholds.yml is no other harness"
    [measured] = found.measured.values()
    [row] = measured.verdict.changes
    assert (row.metric, row.word) == ("delivery_seconds.p50", "accepted"), measured.verdict.reasons
    require(played, passes=True)
    comment = reported(forge, of(forge, payload, passes=True))
    assert "### Pushbench: pass" in comment
    assert "| accepted |" in comment
    assert f"node-ws: delivery p50 accepted at {CLIENTS} clients: +" in comment
    assert "it thinks about each draw" in comment
