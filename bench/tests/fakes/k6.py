#!/usr/bin/env python3
"""A generator as far as `load` sees one: the events and the load report of a load in which all went well.

It imports little, because many tests start it. The reader of its report checks the fields.
It connects to nothing. The plan's parameter `carries` is the number of clients that get everything. With more clients,
a tenth of the receipts is lost. SIGINT ends it with a report of the finished stages, like the real one, except with
`silent`. The plan's parameter `behaviour` makes it fail instead:
crash | hang | garbage (a line that is no event) | silent (no report) | newer (a report of a newer schema) |
short (of open files) | drains (for a second at the end, the minimum of the real one)
or ends the server: kills:start (before the load starts) | kills:N (in the steady window of stage N, from 0) |
kills:N:silent (and writes no report)
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from hdrh.histogram import HdrHistogram

CLIENTS_PER_BOARD = 10
MINIMUM_DRAIN_SECONDS = 1.0  # as in k6/internal/schedule


def microseconds() -> int:
    return time.monotonic_ns() // 1000


def histogram(seconds: float, count: int) -> str:
    recorded = HdrHistogram(1, 120_000_000, 3)
    recorded.record_value(int(seconds * 1e6), count)
    return str(recorded.encode().decode())


def main() -> None:
    if sys.argv[1:] == ["version"]:
        print("k6 v0.0.0 (go0.0.0, linux/amd64)")
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as Go does, even if the parent ignored it
    plan = json.loads(Path(os.environ["PUSH_LOAD"]).read_text())
    behaviour = plan["parameters"].get("behaviour", "normal")
    segment = sys.argv[sys.argv.index("--execution-segment") + 1] if "--execution-segment" in sys.argv else "0:1"
    share = (
        1 / len(sys.argv[sys.argv.index("--execution-segment-sequence") + 1].split(",")[1:]) if segment != "0:1" else 1
    )
    events = os.fdopen(int(os.environ["PUSH_EVENTS_FD"]), "w", buffering=1)
    if behaviour == "crash":
        print("the scenario threw an exception", file=sys.stderr)
        sys.exit(107)
    if behaviour == "garbage":
        print("no event", file=events)
    if behaviour == "hang":
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("hanging", flush=True)
        time.sleep(600)
    if behaviour == "kills:start":
        kill(plan["url"])
        time.sleep(600)
    begin = microseconds()
    at = plan["schedule"]["warmup_seconds"]
    stages = []
    for stage in plan["schedule"]["stages"]:
        at += stage["ramp_seconds"] + stage["settle_seconds"]
        played = {"clients": int(stage["clients"] * share), **{key: stage[key] for key in ("name", "parameters")}}
        stages.append({**played, "outage": stage["outage"], "begin": at, "end": at + stage["steady_seconds"]})
        at += stage["steady_seconds"]
    windows = [{**stage, **{key: begin + int(stage[key] * 1e6) for key in ("begin", "end")}} for stage in stages]
    report = Path(os.environ["PUSH_REPORT"])
    start = {"event": "start", "at": begin, "stages": windows, "end_of_load": begin + int(at * 1e6)}
    try:
        print(json.dumps(start), file=events)
        if behaviour.startswith("kills:"):
            window = stages[int(behaviour.split(":")[1])]
            sleep_until(begin, (window["begin"] + window["end"]) / 2)
            kill(plan["url"])
        for second in range(int(at) + 1):
            sleep_until(begin, min(second + 1, at))
            told = {"event": "second", "at": microseconds(), "second": second, "p95_us": 2_100}
            told["exceeded"] = [{"late": 3, "of": 200} for _ in plan["limits"]]
            print(json.dumps({**told, "clients": 20, "sent": 20, "received": 200, "owed": 210}), file=events)
    except KeyboardInterrupt:
        if not behaviour.endswith("silent"):
            finished = [stage for stage in stages if begin + stage["end"] * 1e6 <= microseconds()]
            report.write_text(json.dumps(make_report(plan, segment, begin, finished)))
        sys.exit(105)
    if behaviour == "drains":
        time.sleep(MINIMUM_DRAIN_SECONDS)
    print(json.dumps({"event": "drained", "at": microseconds()}), file=events)
    if behaviour != "silent":
        content = make_report(plan, segment, begin, stages)
        report.write_text(json.dumps({**content, "schema": 7 if behaviour == "newer" else 6}))


def sleep_until(begin: int, seconds: float) -> None:
    time.sleep(max(0.0, seconds - (microseconds() - begin) / 1e6))


def kill(server: str) -> None:
    """End the fake server, which sends no answer."""
    address = urlsplit(server)
    with contextlib.suppress(OSError), socket.create_connection((address.hostname, address.port)) as connection:
        connection.sendall(b"GET /die HTTP/1.0\r\n\r\n")
        connection.recv(1)


def make_report(plan: dict, segment: str, begin: int, stages: list[dict]) -> dict:  # type: ignore[type-arg]
    seconds = len(range(int((microseconds() - begin) / 1e6) + 1))
    return {
        "schema": 6,
        "generator": {"extension": "fake", "k6": "v0.0.0", "go": "go0.0.0"},
        **{key: plan[key] for key in ("protocol", "url", "seed", "parameters")},
        "segment": segment,
        "started_unix_us": time.time_ns() // 1000,
        "started_monotonic_us": begin,
        "stages": [make_stage(stage, plan["parameters"].get("carries", 0)) for stage in stages],
        "timeline": {
            "clients": [20] * seconds,
            "sent": [20] * seconds,
            "received": [200] * seconds,
            "latency": [histogram(0.002, 200)] * seconds,
            "expected": [200] * seconds,
            "lost": [0] * seconds,
            "sent_bytes": [20 * 250] * seconds,
            "received_bytes": [200 * 250] * seconds,
        },
        "errors": [],
        "shortages": [{"reason": "open_files", "count": 3}] if plan["parameters"].get("behaviour") == "short" else [],
    }


def make_stage(stage: dict, carries: int) -> dict:  # type: ignore[type-arg]
    clients = stage["clients"]
    messages = int(clients * (stage["end"] - stage["begin"]))
    receipts = messages * CLIENTS_PER_BOARD
    lost = receipts // 10 if 0 < carries < clients else 0
    return {
        "name": stage["name"],
        "parameters": stage["parameters"],
        "begin_us": int(stage["begin"] * 1e6),
        "end_us": int(stage["end"] * 1e6),
        "clients": {
            "target": clients,
            "playing": clients,
            "connected": clients,
            "members": clients,
            "groups": clients // CLIENTS_PER_BOARD,
            "connect_failures": 0,
            "disconnects": 0,
            "late": 0,
        },
        "messages": {"due": messages, "sent": messages, "unsent": 0},
        "receipts": {
            "expected": receipts,
            "received": receipts - lost,
            "lost": lost,
            "duplicate": 0,
            "out_of_order": 0,
            "ineligible": 0,
            "corrupt": 0,
        },
        "arrived": receipts,
        "spun_us": 0,
        "traffic": {"sent_bytes": messages * 250, "received_bytes": receipts * 250},
        "outage": make_outage(stage) if stage["outage"] else None,
        "histograms": {
            "own": histogram(0.001, messages),
            "each": histogram(0.002, receipts),
            "last": histogram(0.003, messages),
            "lateness": histogram(0.0001, messages),
            "connect": histogram(0.005, clients),
        },
    }


def make_outage(stage: dict) -> dict:  # type: ignore[type-arg]
    """All clients were back 0.8 s after the kill, and 7 of 100 receipts were lost."""
    kill = stage["begin"] + stage["outage"]["at_seconds"]
    lost = {"expected": 100, "received": 93, "lost": 7}
    return {
        "kill": stage["outage"]["kill"],
        "kill_us": int(kill * 1e6),
        "begin_us": int((kill - 1) * 1e6),
        "end_us": int((kill + stage["outage"]["within_seconds"]) * 1e6),
        **{"disconnects": 20, "attempts": 50, "failed": 30, "not_back": 0, "lost_after": 0},
        "back_us": int((kill + 0.8) * 1e6),
        "last_lost_us": None,
        "messages": {"due": 10, "sent": 10, "unsent": 0},
        "receipts": {**lost, "duplicate": 0, "out_of_order": 0, "ineligible": 0, "corrupt": 0},
        "reconnect": histogram(0.02, 20),
        "away": histogram(0.6, 20),
    }


main()
