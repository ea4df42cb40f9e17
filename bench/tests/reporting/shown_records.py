"""Records to show: one with every kind of trouble, and one whose texts are hostile."""

from __future__ import annotations

import re

from pushbench.records.load_report import ReportedError
from pushbench.records.record import Finding, Record, Validity
from tests.factories import (
    failed,
    invalid,
    make_record,
    make_trial,
    measured,
)

CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
HOSTILE = "\x1b[2J\x1b]0;owned\x07<script>alert(1)</script> [link](http://evil) | `x` @team #1 [red]\u202e\r\n**"


def bad() -> Record:
    """A record with a server that broke limits, a disturbed one, one that did not start, and one not measured."""
    lossy = {
        "loss_ratio": 0.2034,
        "throughput_per_second": 7_810.0,
        "delivery_seconds.p95": 8.1,
        "delivery_seconds.p99": 20.3,
        "clients": 991.0,
    }
    disturbed = Finding(code="other_process", message="cc1plus (pid 31) used 14 % of a core meanwhile", stage=2)
    errors = [ReportedError(reason="close 1006: connection reset", count=1234)]
    log = "Starting\n\x1b[31mBindException\x1b[0m: Address already in use\n\tat Main.main(Main.java:12)\n"
    return make_record(
        [
            measured("fastapi", lossy).model_copy(update={"errors": errors}),
            make_trial("node-ws", validity=Validity(valid=True, reasons=[], warnings=[disturbed])),
            failed("spring-stomp", log=log),
            invalid(make_trial("spring-websocket")),
        ]
    )


def hostile() -> Record:
    """A record with malicious text in every part that others can write."""
    finding = Finding(code="swap", message=HOSTILE, stage=1)
    trial = failed(HOSTILE, message=HOSTILE, log=f"{HOSTILE}\n````\n# heading\n" + "x" * 5000)
    trial = trial.model_copy(
        update={
            "validity": Validity(valid=True, reasons=[], warnings=[finding]),
            "errors": [ReportedError(reason=HOSTILE, count=1)],
        }
    )
    return make_record([trial, make_trial("node-ws")], parameters={"pattern": HOSTILE})


def widest(text: str) -> int:
    """The widest line in columns, except the command to repeat the run: a terminal wraps it, and a copy is one line."""
    return max(len(line) for line in text.splitlines() if not line.startswith("Repeat: "))
