"""The time of a comparison: each server has its own, and those that used it are not measured further."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.measuring.campaign import Budget, Campaign
from pushbench.records.record import Record
from tests.comparisons import arms, compared
from tests.tiny_runs import Notebook

SECONDS = {"quick": 10.0, "slow": 40.0}
"""that a round of a server takes"""


class Scripted(Campaign):
    """Plays rounds that take what `SECONDS` says, and keeps who was in them."""

    rounds: list[list[str]]

    def _round(
        self, record: Record, servers: Sequence[str], number: int, together: Collection[str], seconds_left: float
    ) -> tuple[Record, dict[str, float]]:
        self.rounds.append(list(servers))
        return record, {server: SECONDS[server] for server in servers}


def played(folder: Path, budget: Budget, servers: Sequence[str], most_rounds: int = 50) -> list[list[str]]:
    nothing: Any = SimpleNamespace(records=folder)
    campaign = Scripted(nothing, NO_THRESHOLDS, nothing, nothing, budget, 1, Notebook())
    object.__setattr__(campaign, "rounds", [])
    campaign.play(compared(arms("node-ws", rounds=1), most_rounds=most_rounds), servers)
    return campaign.rounds


@pytest.mark.parametrize("servers", [["quick"], ["quick", "slow"]])
def test_each_server_has_its_own_time(tmp_path: Path, servers: list[str]) -> None:
    rounds = played(tmp_path, Budget(120.0, until_decided=False), servers)
    assert sum("quick" in each for each in rounds) == 12
    assert sum("slow" in each for each in rounds) == (3 if "slow" in servers else 0)


def test_the_number_of_rounds_ends_it_for_all(tmp_path: Path) -> None:
    assert len(played(tmp_path, Budget(1e6, 5, until_decided=False), ["quick", "slow"])) == 5


def test_all_servers_share_a_time_and_the_last_ones_are_named(tmp_path: Path) -> None:
    budget = Budget(120.0, until_decided=False, all_seconds=190.0)
    rounds = played(tmp_path, budget, ["quick", "slow"])
    assert rounds == [["quick", "slow"]] * 3 + [["quick"]] * 4, "what the slow one leaves goes to the other"
    assert played(tmp_path, budget, ["quick"]) == [["quick"]] * 12, "its own time ends before"
    assert played(tmp_path, Budget(1e6, all_seconds=120.0, until_decided=False), ["quick", "slow"]) == rounds[:2]


def test_without_a_margin_nothing_is_undecided(tmp_path: Path) -> None:
    assert len(played(tmp_path, Budget(1e6), ["quick"])) == 1
