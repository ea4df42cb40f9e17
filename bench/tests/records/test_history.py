"""The parts of a run that are kept, what is refused, and which runs form a series."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pushbench.foundation.errors import UserError
from pushbench.records import history
from pushbench.records.history import Entry
from pushbench.records.record import Record
from pushbench.records.runs import Runs, read_runs
from tests.factories import by_method_1, invalid, make_record, make_trial, measured

COMMIT = make_record([]).commit


def record(number: int, cpu: float, **changed: Any) -> Record:
    trial = measured("node-ws", {"cpu_seconds_per_delivery": cpu})
    return make_record([trial], **{"id": f"20261121T1015{number:02d}Z-000000", **changed})


def read(store: Path) -> Runs:
    return read_runs(store, "0123456789ab", "whiteboard", "quick", store / "cache")


def test_a_record_becomes_an_entry_with_medians_of_valid_trials(tmp_path: Path) -> None:
    trials = [
        measured("node-ws", {"cpu_seconds_per_delivery": each}, round_=n) for n, each in enumerate((1.0, 2.0, 9.0))
    ]
    path = history.append(tmp_path, make_record([*trials, invalid(make_trial("node-ws", 3))]))
    assert path == tmp_path / "0123456789ab" / "whiteboard" / "quick" / "20261121T101500Z-1a2b3c.json"
    entry = history.read_entry(path)
    kept = entry.servers["node-ws"]
    assert (kept.trials, kept.valid_trials, kept.failed_trials) == (4, 3, 0)
    assert kept.stages["1000"]["cpu_seconds_per_delivery"] == 2.0


def test_what_no_commit_made_and_what_is_not_complete_is_refused(tmp_path: Path) -> None:
    assert COMMIT
    with pytest.raises(UserError, match="its sources are no commit"):
        history.append(tmp_path, record(1, 1.0, commit=COMMIT.model_copy(update={"dirty": True})))
    with pytest.raises(UserError, match="0 of 1 trials were measured"):
        history.append(tmp_path, make_record([], planned=[make_trial("node-ws")]))


def test_adding_twice_changes_nothing_and_other_values_are_refused(tmp_path: Path) -> None:
    history.append(tmp_path, record(1, 1.0))
    history.append(tmp_path, record(1, 1.0))
    with pytest.raises(UserError, match="entries never change"):
        history.append(tmp_path, record(1, 2.0))


def test_an_entry_from_before_tools_were_kept_stays_as_it_is(tmp_path: Path) -> None:
    path = history.append(tmp_path, record(1, 1.0))
    entry = json.loads(path.read_text())
    assert entry.pop("tools")["servers"]["node-ws"]["framework"]
    path.write_text(json.dumps(entry))
    assert history.append(tmp_path, record(1, 1.0)) == path
    assert json.loads(path.read_text()) == entry
    with pytest.raises(UserError, match="entries never change"):
        history.append(tmp_path, record(1, 2.0))


def test_an_entry_says_by_which_method_it_was_measured(tmp_path: Path) -> None:
    new = history.append(tmp_path, record(1, 1.0))
    assert (history.read_entry(new).method, history.method_of(new.parent)) == (2, 2)
    old = history.append(tmp_path, by_method_1(record(2, 1.0)))
    assert old.parent != new.parent
    entry = json.loads(old.read_text())
    assert entry.pop("method") is None
    old.write_text(json.dumps(entry))
    assert history.append(tmp_path, by_method_1(record(2, 1.0))) == old
    assert (history.method_of(old.parent), history.method_of(tmp_path / "nowhere")) == (1, 1)


def test_runs_with_other_parameters_are_no_part_of_a_series(tmp_path: Path) -> None:
    history.append(tmp_path, record(1, 1.0, parameters={"board_size": 20}))
    for number in (2, 3):
        history.append(tmp_path, record(number, number))
    found = read(tmp_path).series("node-ws", "1000", "cpu_seconds_per_delivery")
    assert [point.value for point in found] == [2.0, 3.0]


def test_a_file_that_is_no_entry_is_named(tmp_path: Path) -> None:
    path = history.append(tmp_path, record(1, 1.0))
    path.write_text(path.read_text()[:50])
    with pytest.raises(UserError, match=path.name):
        read(tmp_path)


def test_an_entry_in_another_one_s_place_is_refused(tmp_path: Path) -> None:
    path = history.append(tmp_path, record(1, 1.0))
    moved = path.with_name("20261121T101502Z-000000.json")
    path.rename(moved)
    with pytest.raises(UserError, match="the run 20261121T101501Z-000000 belongs elsewhere"):
        read(tmp_path)


def test_only_new_entries_are_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in (1, 3):
        history.append(tmp_path, record(number, number))
    first = read(tmp_path)
    history.append(tmp_path, record(2, 2.0))
    opened: list[str] = []
    whole = history.read_entry

    def reading(path: Path) -> Entry:
        opened.append(path.stem)
        return whole(path)

    monkeypatch.setattr(history, "read_entry", reading)
    second = read(tmp_path)
    assert opened == ["20261121T101502Z-000000"]
    assert [head.record[13:15] for head in second.heads] == ["01", "02", "03"]
    assert second.column("node-ws", "1000", "cpu_seconds_per_delivery") == [1.0, 2.0, 3.0]
    assert len(first.heads) == 2
    assert read(tmp_path).column("node-ws", "1000", "cpu_seconds_per_delivery") == [1.0, 2.0, 3.0]
    assert len(opened) == 1


def test_a_cache_that_fits_no_longer_is_made_anew(tmp_path: Path) -> None:
    paths = [history.append(tmp_path, record(number, number)) for number in (1, 2)]
    read(tmp_path)
    paths[0].unlink()
    assert [head.record[13:15] for head in read(tmp_path).heads] == ["02"]
    [kept] = (tmp_path / "cache").glob("*.npy")
    kept.write_bytes(kept.read_bytes()[:100])
    assert [head.record[13:15] for head in read(tmp_path).heads] == ["02"]


def test_a_server_that_a_run_did_not_have_has_no_point_there(tmp_path: Path) -> None:
    history.append(tmp_path, make_record([make_trial("fastapi")], id="20261121T101501Z-000000"))
    history.append(tmp_path, record(2, 2.0))
    invalid_one = make_record([invalid(make_trial("node-ws"))], id="20261121T101503Z-000000")
    history.append(tmp_path, invalid_one)
    runs = read(tmp_path)
    assert runs.servers == ["fastapi", "node-ws"]
    assert runs.stages("node-ws")[-1] == "1000"
    found = runs.series("node-ws", "1000", "cpu_seconds_per_delivery")
    assert [point.value for point in found] == [2.0, None]


def test_a_run_in_which_the_server_ended_early_has_its_stages_and_hides_no_other(tmp_path: Path) -> None:
    for number in range(1, 10):
        whole = record(number, 1.0)
        few = [trial.model_copy(update={"stages": trial.stages[: 1 if number > 1 else 2]}) for trial in whole.trials]
        history.append(tmp_path, whole if number == 3 else whole.model_copy(update={"trials": few}))
        expected = ["100", "300"] if number < 3 else ["100", "300", "700", "1000"] if number < 8 else ["100"]
        assert read(tmp_path).stages("node-ws") == expected


def test_a_new_run_may_measure_what_those_in_the_cache_did_not(tmp_path: Path) -> None:
    for number in (1, 2):
        history.append(tmp_path, record(number, number))
    read(tmp_path)
    server = make_record([make_trial("node-ws"), make_trial("another")], id="20261121T101503Z-000000")
    history.append(tmp_path, server)
    runs = read(tmp_path)
    assert len(runs.column("another", "1000", "cpu_seconds_per_delivery")) == 1
    assert runs.column("node-ws", "1000", "cpu_seconds_per_delivery")[:2] == [1.0, 2.0]
