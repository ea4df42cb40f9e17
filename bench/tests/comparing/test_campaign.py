"""The time limit of a comparison: each server has its own, and a server is not measured further once it is used up."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pushbench.comparing.campaign import Budget, Campaign
from pushbench.judging.sequential import ENOUGH_ROUNDS
from pushbench.judging.thresholds import NO_THRESHOLDS, Thresholds
from pushbench.metrics.validity import judge_together
from pushbench.records.record import Accepting, PlannedTrial, Record
from tests.comparisons import THRESHOLDS, compared
from tests.factories import make_stage, make_trial
from tests.tiny_runs import Notebook

SECONDS = {"quick": 10.0, "slow": 40.0}
"""of a round of each server"""

Use = Callable[[PlannedTrial], Mapping[str, float]]
"""the metrics of a trial"""


class Scripted(Campaign):
    """Plays rounds that take the time in `SECONDS`, and keeps their servers."""

    turns: list[dict[str, list[int]]]
    use: Use

    def _play(
        self, record: Record, planned: Sequence[PlannedTrial], seconds_left: float
    ) -> tuple[Record, dict[str, float]]:
        rounds: dict[str, list[int]] = {}
        for each in planned[::2]:
            rounds.setdefault(each.server, []).append(each.round)
        self.turns.append(rounds)
        trials = [
            make_trial(each.server, each.round, arm=each.arm, results=[make_stage(260, self.use(each))])
            for each in planned
        ]
        for server in rounds:
            own = [trial for trial in trials if trial.server == server]
            record = record.model_copy(update={"trials": [*record.trials, *judge_together(own, record.environment)]})
        return record.model_copy(update={"plan": [*record.plan, *planned]}), {each: SECONDS[each] for each in rounds}


def prepared(
    folder: Path, budget: Budget, use: Use, thresholds: Thresholds = NO_THRESHOLDS
) -> tuple[Scripted, Notebook]:
    nothing: Any = SimpleNamespace(records=folder)
    watch = Notebook()
    scripted = Scripted(nothing, thresholds, nothing, nothing, budget, 1, watch)
    object.__setattr__(scripted, "turns", [])
    object.__setattr__(scripted, "use", use)
    return scripted, watch


def campaign(
    folder: Path,
    budget: Budget,
    servers: Sequence[str],
    most_rounds: int = 50,
    use: Mapping[str, float] | None = None,
    *,
    live: bool = False,
) -> tuple[list[dict[str, list[int]]], list[str]]:
    """The numbers of the rounds of each server in each turn, and the notes."""
    scripted, watch = prepared(folder, budget, lambda _: use or {"cpu_cores": 0.7})
    scripted.play(compared([], most_rounds=most_rounds).model_copy(update={"live": live}), servers)
    return scripted.turns, watch.notes


def played(folder: Path, budget: Budget, servers: Sequence[str], most_rounds: int = 50) -> list[list[str]]:
    turns, _ = campaign(folder, budget, servers, most_rounds)
    return [sorted(each) for each in turns]


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


def half_more_cpu_and_a_wild_tail(planned: PlannedTrial) -> Mapping[str, float]:
    wild = 3.0 if planned.round % 2 else 1 / 3
    head = planned.arm == "head"
    return {
        "cpu_cores": 0.7,
        "cpu_seconds_per_delivery": 30e-6 if head else 20e-6,
        "delivery_seconds.p95": 0.05 * (wild if head else 1.0),
    }


@pytest.mark.parametrize(("accepted", "rounds"), [(False, ENOUGH_ROUNDS), (True, 20)])
def test_a_server_that_is_worse_ends_without_the_rows_that_cannot_be_decided(
    tmp_path: Path, accepted: bool, rounds: int
) -> None:
    """If a line of thresholds.yml accepts the change, the other rows decide the verdict."""
    line = Accepting(
        server="quick",
        metric="cpu_seconds_per_delivery",
        stages=None,
        level=None,
        change=1.0,
        reason="a richer protocol",
        until=date(2027, 1, 1),
        where="thresholds.yml:9",
    )
    scripted, watch = prepared(tmp_path, Budget(1e6, 20), half_more_cpu_and_a_wild_tail, THRESHOLDS)
    scripted.play(compared([], accepting=[line] if accepted else []), ["quick"])
    assert len(scripted.turns) == rounds
    assert ("quick: not measured further: worse in CPU per delivery" in watch.notes) != accepted


LITTLE = {"cpu_cores": 0.05, "generator_cpu_cores": 0.05, "memory_bytes.peak": 1e8}
"""small enough for more than three rounds at the same time"""


def test_rounds_that_fit_on_the_machine_are_played_at_the_same_time(tmp_path: Path) -> None:
    budget = Budget(50.0, until_decided=False)
    turns, notes = campaign(tmp_path, budget, ["quick"], most_rounds=0, use=LITTLE)
    assert turns == [{"quick": [1]}, *({"quick": [number + each for each in range(3)]} for number in (2, 5, 8, 11))]
    assert notes == [
        "quick: from now on 3 rounds at the same time",
        "a round takes 10 s: at most 13, fewer if everything is decided earlier",
    ]
    in_turns = Budget(40.0, until_decided=False, together=False)
    turns, notes = campaign(tmp_path, in_turns, ["quick"], 0, LITTLE)
    assert turns == [{"quick": [number]} for number in (1, 2, 3, 4)]
    assert notes[-1].startswith("4 rounds can hardly decide anything")
    turns, _ = campaign(tmp_path, Budget(40.0, until_decided=False), ["quick"], 0, LITTLE, live=True)
    assert turns == [{"quick": [number]} for number in (1, 2, 3, 4)], "a stream has one series for each arm"
    capped = Budget(1e6, 6, until_decided=False)
    turns, _ = campaign(tmp_path, capped, ["quick"], 0, LITTLE)
    assert turns == [{"quick": [1]}, {"quick": [2, 3, 4]}, {"quick": [5, 6]}]


def test_rounds_that_crowd_their_cpus_are_played_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pushbench.comparing.campaign.rounds_that_fit", lambda *_: 3)
    turns, notes = campaign(tmp_path, Budget(70.0, until_decided=False), ["quick"], 0, {"cpu_cores": 0.6})
    assert turns[:4] == [{"quick": [1]}, {"quick": [2, 3, 4]}, {"quick": [5]}, {"quick": [6]}]
    assert "quick: 3 rounds overload the CPUs they share: from now on one at a time" in notes
    assert len([each for each in notes if each.startswith("a round takes")]) == 2, "the pace is told anew"
