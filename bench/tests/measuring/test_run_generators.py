"""A run has as many generators as the machine's files and ports require."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.foundation.errors import UserError
from pushbench.generator import limits, needs
from pushbench.generator.needs import Limits
from pushbench.judging.thresholds import NO_THRESHOLDS
from pushbench.judging.verdict import judge
from tests.support import make_project
from tests.tiny_runs import UNVERIFIED, Notebook, measure
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.slow


def test_the_number_of_generators_is_in_the_record_and_in_its_series(tmp_path: Path) -> None:
    project = make_project(tmp_path / "checkout", x="")
    one, two = (measure(project, how=replace(UNVERIFIED, generators=count)) for count in (1, 2))
    assert (one.environment.generators, two.environment.generators) == (None, 2)
    assert one.environment.key != two.environment.key


def test_a_machine_with_few_files_and_ports_has_more_generators_and_addresses_and_doubts_its_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "checkout", x="")
    monkeypatch.setattr(limits, "read_limits", lambda: Limits(open_files=19, ports=18))
    monkeypatch.setattr(needs, "OWN_FILES", 5)
    watch = Notebook()
    record = measure(project, watch=watch)
    plan = json.loads((project.cache / "load" / "load.json").read_text())
    assert (plan["generators"], plan["sources"]) == (2, ["127.0.0.2", "127.0.0.3", "127.0.0.4"])
    assert record.environment.generators == 2
    validity = record.trials[0].validity
    assert validity.valid
    assert [each.code for each in validity.warnings][-2:] == ["server_open_files", "not_verified"]
    assert [note.partition(",")[0] for note in watch.notes[:3]] == [
        "2 generators: each may open 19 files",
        "clients connect from 3 addresses",
        "a process may open 19 files (`ulimit -n`)",
    ]


def test_too_few_generators_are_refused_before_anything_is_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = make_project(tmp_path / "checkout", x="")
    monkeypatch.setattr(limits, "read_limits", lambda: Limits(open_files=115, ports=28_232))
    watch = Notebook()
    with pytest.raises(UserError, match="--generators 1 is too few"):
        measure(project, watch=watch, how=replace(UNVERIFIED, generators=1))
    assert (watch.notes, project.records.exists()) == ([], False)


def test_a_shortage_of_the_generators_machine_is_invalid_and_says_what_to_raise(tmp_path: Path) -> None:
    record = measure(make_project(tmp_path / "checkout", x=""), behaviour="short")
    [only] = record.trials
    assert (only.failure, only.validity.valid) == (None, False)
    verdict = judge(record, NO_THRESHOLDS)
    assert verdict.reasons == [
        "x: no trial is valid: 3 connections failed because the generator had no open file left: "
        "raise `ulimit -n`, or add --generators (generator_shortage)"
    ]
