"""A second suite of invented histories: the values of the first suite with other words."""

from __future__ import annotations

import json
from typing import Any

from pushbench.records.record import Record
from pushbench.records.vocabulary import ORIGINAL, Exchange, Latency, Vocabulary, Work

TOKENS = Vocabulary(
    work=Work(name="token", plural="Tokens"),
    exchanges={
        "stream": Exchange(
            plural="Streams",
            latencies={
                "first_token": Latency(title="First token", until="first"),
                "complete": Latency(title="Complete", until="last", shown=["p95", "p99"]),
                "gap": Latency(title="Gap", until="gap", shown=["p99", "max"]),
            },
        )
    },
    headline="first_token_seconds.p95",
)
WORDS = {"whiteboard": ORIGINAL, "tokens": TOKENS}
"""by suite"""
PACED = 1
"""index of the one stage with gaps"""
OTHER_WORDS = {
    "delivery_seconds": "first_token_seconds",
    "echo_seconds": "gap_seconds",
    "fanout_seconds": "complete_seconds",
    "_per_delivery": "_per_token",
    '"delivery":': '"first_token":',
    '"echo":': '"gap":',
    '"fanout":': '"complete":',
    "board_size": "text_length",
    '"suite":"whiteboard"': '"suite":"tokens"',
}


def told_entry(entry: dict[str, Any], suite: str) -> dict[str, Any]:
    """An entry in the words of a suite. Its id is different, since all suites have runs at the same times."""
    if suite == "whiteboard":
        return entry
    found: dict[str, Any] = json.loads(_told(json.dumps(entry, separators=(",", ":"))))
    found["record"] += "t"
    for server in found["servers"].values():
        for number, metrics in enumerate(server["stages"].values()):
            _drop_gaps(metrics, number)
    return found


def told_record(record: Record, suite: str) -> Record:
    """A record in the words of a suite; see `told_entry`."""
    if suite == "whiteboard":
        return record
    found = json.loads(_told(record.model_dump_json(by_alias=True)))
    found |= {"id": f"{record.id}t", "words": WORDS[suite].model_dump(mode="json")}
    for trial in found["trials"]:
        for number, stage in enumerate(trial["stages"]):
            _drop_gaps(stage["metrics"], number)
            _drop_gaps(stage["histograms"], number)
    return Record.model_validate_json(json.dumps(found))


def _told(text: str) -> str:
    for word, other in OTHER_WORDS.items():
        text = text.replace(word, other)
    return text


def _drop_gaps(of: dict[str, Any], stage: int) -> None:
    for name in [name for name in of if name.startswith("gap")]:
        if stage != PACED:
            del of[name]
