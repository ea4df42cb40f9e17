"""A pull request that slows a server down on purpose says so in thresholds.yml, and is not red for it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from pushbench.ci.result import parse_results, unzip
from tests.workflows.forge import VARIABLES, Forge
from tests.workflows.test_workflows import change, of, reported, require

pytestmark = [pytest.mark.workflows]

ACCEPTS = """\
servers:
  node-ws:
    whiteboard:
      accepted:
        delivery_seconds.p50: {change: 9000%, reason: "it thinks before each message", until: 2099-01-01}
        delivery_seconds.p95: {change: 9000%, reason: "it thinks before each message", until: 2099-01-01}
        cpu_seconds_per_delivery: {change: 300%, reason: "thinking is not free", until: 2099-01-01}
"""


MINUTES = {**VARIABLES, "PUSHBENCH_MAX_TIME": "4m"}


def slower_on_purpose(work: Path) -> None:
    """By one millisecond a message: the server keeps to every limit, also on a machine with other work."""
    change(
        "servers/node-ws/src/client.js",
        "    if (isBinary) throw",
        "    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1);\n      if (isBinary) throw",
    )(work)
    file = work / "thresholds.yml"
    until = (datetime.now(UTC).date() + timedelta(days=80)).isoformat()
    file.write_text(file.read_text() + ACCEPTS.replace("2099-01-01", until))


def test_an_accepted_regression_does_not_fail_and_is_shown_with_its_reason(tmp_path: Path) -> None:
    forge = Forge(tmp_path)
    payload = forge.pull_request(slower_on_purpose, "Think before each message, as everybody wants")
    played = forge.act("pull_request", payload, "bench.yml", MINUTES, at="change")
    found = parse_results(unzip(forge.artifact("results")), "results")
    assert [each.step.kind for each in found.result.steps] == ["compare"], "thresholds.yml is no other harness"
    [measured] = found.measured.values()
    words = {each.metric: each.word for each in measured.verdict.changes}
    assert words["delivery_seconds.p50"] == "accepted", measured.verdict.reasons
    assert "worse" not in words.values()
    # A machine that disturbs it leaves other rows undecided, and then the job is not green for that.
    assert found.result.outcome in ("pass", "inconclusive")
    passes = found.result.outcome == "pass"
    require(played, passes=passes)
    comment = reported(forge, of(forge, payload, passes=passes))
    assert f"### Pushbench: {'pass' if passes else 'INCONCLUSIVE'}" in comment
    assert "| accepted |" in comment
    assert "node-ws: delivery p50 accepted at 260 clients: +" in comment
    assert "it thinks before each message" in comment
