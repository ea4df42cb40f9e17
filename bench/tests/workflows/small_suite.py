"""Makes the suite of a forge's checkout small for workflow tests. The statistics have tests of their own."""

from __future__ import annotations

from pathlib import Path

import yaml

from pushbench.foundation.yamlfile import read_yaml

SUITE = Path("k6/scenarios/whiteboard.yml")
CLIENTS = 20
SHORT = {
    "stages": [CLIENTS],
    "warmup_seconds": 0.5,
    "ramp_seconds": 0.5,
    "settle_seconds": 0.5,
    "steady_seconds": 2,
    "drain_seconds": 5,
    "repeats_disturbed": False,
}
COMPARED = ("delivery_seconds.p50", "connect_late_ratio", "loss_ratio")
"""metrics that a few rounds with few clients decide; a comparison ends when all of them are decided"""
MEDIAN = {"margin": "15%", "floor": "5ms"}
"""margin of the median delivery time: on a busy machine, two medians of 20 clients differ by 1 ms by chance"""


def shorten_profiles(work: Path) -> None:
    """Let trials of `smoke` and `compare` take 5 s."""
    suite = read_yaml(work / SUITE).data
    for profile in ("smoke", "compare"):
        suite["profiles"][profile] = dict(SHORT)
    (work / SUITE).write_text(yaml.safe_dump(suite, sort_keys=False))


def shorten_search(work: Path) -> None:
    """Let a search for a capacity end at its first load."""
    suite = read_yaml(work / SUITE).data
    suite["capacity"] = {
        "first": CLIENTS,
        "step": 10,
        "most": CLIENTS,
        "clients_per_second": 100,
        "warmup_seconds": 0.5,
        "ramp_seconds": 0.5,
        "settle_seconds": 0.5,
        "steady_seconds": 1,
        "hold_seconds": 1,
        "drain_seconds": 1,
    }
    (work / SUITE).write_text(yaml.safe_dump(suite, sort_keys=False))


def compare_only(work: Path, *metrics: str) -> None:
    """Restrict comparisons to these metrics, with MEDIAN and the suite's other margins; remove those of servers."""
    suite = read_yaml(work / SUITE).data
    margins = suite["regressions"] | {"delivery_seconds.p50": MEDIAN}
    suite["regressions"] = {metric: margins[metric] for metric in metrics}
    (work / SUITE).write_text(yaml.safe_dump(suite, sort_keys=False))
    for own in work.glob("servers/*/thresholds.yml"):
        own.unlink()
