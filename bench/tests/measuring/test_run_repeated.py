"""A trial that the machine disturbed is measured once more after all others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.judging.verdict import judge
from pushbench.measuring import run
from pushbench.measuring.common import GiveWay, Interrupted
from pushbench.records import store
from pushbench.records.record import Failure, Finding, Record, Trial, Validity
from pushbench.reporting.report import render_terminal
from pushbench.site import runfile
from tests.factories import make_record, make_trial
from tests.tiny_runs import Notebook
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture

TAKEN = "the hypervisor took 2.1 % of the CPU time, above 1 %"


def disturbed(trial: Trial, *codes: str) -> Trial:
    reasons = [Finding(code=code, message=TAKEN if code == "steal" else code, stage=0) for code in codes]
    return trial.model_copy(update={"validity": Validity(valid=not reasons, reasons=reasons, warnings=[])})


def measure_these(
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    *found: Trial | None,
    give_way: GiveWay | None = None,
    repeats_disturbed: bool = True,
) -> tuple[Record, list[str]]:
    """A run of one server with these results of its trials, in order; None interrupts it in that trial."""
    coming = iter(found)

    def measure_one(*_: object) -> Trial:
        if (trial := next(coming)) is None:
            raise KeyboardInterrupt
        return trial

    monkeypatch.setattr(run, "measure_one", measure_one)
    watch = Notebook()
    prepared: Any = SimpleNamespace(server=SimpleNamespace(id="x"))
    bench: Any = None
    planned = [make_trial("x", round_) for round_ in (1, 2)]
    record = make_record([], planned=planned).model_copy(update={"repeats_disturbed": repeats_disturbed})
    try:
        record = run._measure(folder, record, bench, [prepared], watch, give_way=give_way)
    finally:
        assert next(coming, "none") == "none", "each of these trials was measured"
    return record, watch.notes


def test_a_disturbed_trial_is_measured_again_once_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, last = (make_trial("x", round_, seconds=seconds) for round_, seconds in ((1, 60), (1, 61), (2, 62)))
    record, notes = measure_these(tmp_path, monkeypatch, disturbed(first, "steal", "swap"), last, second)
    assert [trial.seconds for trial in record.trials] == [61, 62]
    assert [[each.code for each in trial.repeated] for trial in record.trials] == [["steal", "swap"], []]
    assert store.read_record(store.find_record(tmp_path)) == record
    assert "x: measured again, once: the hypervisor took 2.1 % of the CPU time, above 1 %" in notes
    shown = render_terminal(record, judge(record, NO_THRESHOLDS), width=200)
    assert "x, round 1: measured again: the hypervisor took 2.1 % of the CPU time" in shown
    site = runfile.run(record, judge(record, NO_THRESHOLDS))["servers"][0]["of"]
    assert site[0]["warnings"][0].startswith("measured again: the hypervisor took 2.1 %")


def test_a_trial_that_is_disturbed_twice_stays_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = disturbed(make_trial("x", 1), "steal"), disturbed(make_trial("x", 1), "clock_step")
    record, _ = measure_these(tmp_path, monkeypatch, first, make_trial("x", 2), second)
    assert [trial.validity.valid for trial in record.trials] == [False, True]
    assert [each.code for each in record.trials[0].validity.reasons] == ["clock_step"]
    assert [each.code for each in record.trials[0].repeated] == ["steal"]


def test_a_profile_may_do_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    record, _ = measure_these(
        tmp_path, monkeypatch, disturbed(make_trial("x", 1), "steal"), make_trial("x", 2), repeats_disturbed=False
    )
    assert [trial.repeated for trial in record.trials] == [[], []]
    assert not record.trials[0].validity.valid


@pytest.mark.parametrize(
    "codes", [[], ["generator_cpu"], ["steal", "generator_failed"], ["generator_shortage"], ["clients_missing"]]
)
def test_nothing_else_is_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, codes: list[str]) -> None:
    record, _ = measure_these(tmp_path, monkeypatch, disturbed(make_trial("x", 1), *codes), make_trial("x", 2))
    assert [trial.repeated for trial in record.trials] == [[], []]


def test_a_server_that_failed_is_not_measured_until_it_does_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rude = disturbed(make_trial("x", 1), "steal").model_copy(update={"failure": Failure(step="stop", message="code 1")})
    record, _ = measure_these(tmp_path, monkeypatch, rude, make_trial("x", 2))
    assert record.trials[0] == rude


def test_a_run_that_ends_in_the_second_measurement_has_that_still_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, last = disturbed(make_trial("x", 1), "steal"), make_trial("x", 2)
    with pytest.raises(Interrupted):
        measure_these(tmp_path, monkeypatch, first, last, None)
    record = store.read_record(store.find_record(tmp_path))
    assert record.trials == [first, last]
    assert run._next(record) == 0


def test_a_second_measurement_gives_way_to_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [disturbed(make_trial("x", 1), "steal"), make_trial("x", 2), make_trial("x", 1)]
    asked: list[int] = []

    def give_way() -> None:
        asked.append(len(found))

    record, _ = measure_these(tmp_path, monkeypatch, *found, give_way=give_way)
    assert [len(trial.repeated) for trial in record.trials] == [1, 0]
    assert len(asked) == 1, "before the second round only"
