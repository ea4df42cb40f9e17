"""The campaign of faults keeps each result, continues where it ended, and derives each word from the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.calibration.catalogue import SOUND, Catalogue, CatalogueFault, Way, read_catalogue, select_ways
from pushbench.calibration.fault_campaign import FaultRequest, look_for_each
from pushbench.calibration.fault_table import markdown, missed, rows, tally
from pushbench.calibration.sightings import Sighting, Word, read_results, said_by_rules, said_by_verdict
from pushbench.conformance.result import Conformance, RuleResult
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.verdict import judge
from pushbench.metrics.validity import DISTURBANCES
from pushbench.records.record import Finding, Trial, Validity
from tests.comparisons import THRESHOLDS, arms, compared
from tests.factories import make_record, make_stage, make_thresholds, make_trial

CATALOGUE = Catalogue(
    server="go",
    sound="-none",
    profiles={"run": "quick", "compare": "compare"},
    faults=[
        CatalogueFault(name="lost", title="some | lost", setting="-drop", blind={"run": "the limit is 1 %"}),
        CatalogueFault(name="slow", title="slow", setting="-slow"),
    ],
)


def sighting(word: Word, *, judged_by: str = "d", most_seconds: float | None = None) -> Sighting:
    return Sighting(
        word=word,
        seconds=65.0,
        reasons=["because"] if word != "missed" else [],
        judged_by=judged_by,
        most_seconds=most_seconds,
        when="2026-11-23T22:00:00+00:00",
        commit="v1",
    )


class Looker:
    """Gives each fault the word `missed`, or its word in `words`, and keeps its calls."""

    def __init__(self, **words: Word) -> None:
        self.asked: list[tuple[str, Way]] = []
        self.words = words

    def __call__(self, fault: CatalogueFault, way: Way) -> Sighting:
        self.asked.append((fault.name, way))
        return sighting(self.words.get(fault.name, "missed"), most_seconds=60.0 if way == "compare" else None)


def look(file: Path, looker: Looker, digest: str = "d", **request: object) -> None:
    wanted = FaultRequest(**{"most_seconds": 60.0, **request})  # type: ignore[arg-type]
    look_for_each(CATALOGUE, wanted, file, looker, digest=lambda _: digest, note=lambda _: None)


def test_each_result_is_kept_and_not_measured_again(tmp_path: Path) -> None:
    file, first, second = tmp_path / "faults.json", Looker(lost="caught"), Looker()
    look(file, first, ways=["verify"])
    assert first.asked == [(SOUND, "verify"), ("lost", "verify"), ("slow", "verify")]
    look(file, second, ways=["verify", "run"])
    assert second.asked == [(SOUND, "run"), ("lost", "run"), ("slow", "run")]
    lost = read_results(file, "go").of("lost", "-drop")
    assert {way: seen.word for way, seen in lost.looks} == {"verify": "caught", "run": "missed"}


def test_each_result_is_told_in_the_words_of_the_table(tmp_path: Path) -> None:
    told: list[str] = []
    wanted, looker = FaultRequest(ways=["run"], most_seconds=60.0), Looker(lost="caught")
    look_for_each(CATALOGUE, wanted, tmp_path / "faults.json", looker, digest=lambda _: "d", note=told.append)
    assert told[1::2] == [
        "none: run: passed after 65 s",
        "lost: run: caught after 65 s because",
        "slow: run: missed after 65 s",
    ]


def test_what_was_found_before_an_interruption_is_safe(tmp_path: Path) -> None:
    def ends(fault: CatalogueFault, way: Way) -> Sighting:
        if fault.name == "slow":
            raise KeyboardInterrupt
        return sighting("caught")

    file = tmp_path / "faults.json"
    with pytest.raises(KeyboardInterrupt):
        look_for_each(CATALOGUE, FaultRequest(["lost", "slow"]), file, ends, digest=lambda _: "d", note=lambda _: None)
    assert [each.fault for each in read_results(file, "go").results] == ["lost"]


@pytest.mark.parametrize(
    ("before", "digest", "most_seconds", "again"),
    [
        ("missed", "d", 600.0, False),
        ("undecided", "d", 60.0, False),
        ("undecided", "d", 600.0, True),
        ("disturbed", "d", 60.0, True),
        ("caught", "other", 60.0, True),
    ],
)
def test_a_look_is_repeated_where_another_answer_may_come(
    tmp_path: Path, before: Word, digest: str, most_seconds: float, again: bool
) -> None:
    file, second = tmp_path / "faults.json", Looker()
    look(file, Looker(lost=before), faults=["lost"], ways=["compare"])
    look(file, second, digest, faults=["lost"], ways=["compare"], most_seconds=most_seconds)
    assert bool(second.asked) == again


def test_everything_is_measured_anew_where_that_is_asked_for(tmp_path: Path) -> None:
    file, second = tmp_path / "faults.json", Looker()
    look(file, Looker(), faults=["lost"])
    look(file, second, faults=["lost"], again=True)
    assert len(second.asked) == 3


def test_another_setting_is_another_fault(tmp_path: Path) -> None:
    file = tmp_path / "faults.json"
    look(file, Looker(lost="caught"), faults=["lost"])
    assert read_results(file, "go").of("lost", "-drop-more").seen == {}


def test_rules_that_a_server_without_a_fault_breaks_end_the_campaign(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="without a fault breaks rules: because"):
        look(tmp_path / "faults.json", Looker(none="caught"))


def test_results_of_another_server_or_kind_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "faults.json"
    look(file, Looker(), faults=["lost"])
    with pytest.raises(UserError, match="results of go, not of actix"):
        read_results(file, "actix")
    file.write_text("[1, 2]")
    with pytest.raises(UserError, match="no results of faults"):
        read_results(file, "go")


def test_a_fault_that_does_not_exist_is_named() -> None:
    with pytest.raises(UserError, match="slwo"):
        CATALOGUE.select(["slwo"])
    with pytest.raises(UserError, match="look"):
        select_ways(["look"])
    assert select_ways(["compare", "verify"]) == ["verify", "compare"]


def test_broken_rules_catch() -> None:
    def found(*outcomes: str) -> Conformance:
        rules = [
            RuleResult.model_validate({"name": f"r{n}", "statement": "", "outcome": each, "detail": "x", "seconds": 1})
            for n, each in enumerate(outcomes)
        ]
        return Conformance(server="go", suite="s", protocol="p", digest="d", rules=rules)

    assert said_by_rules(found("passed", "passed")) == ("missed", [])
    assert said_by_rules(found("passed", "failed")) == ("caught", ["r1: x"])


def disturbed(trial: Trial) -> Trial:
    code = next(iter(DISTURBANCES))
    reasons = [Finding(code=code, message="the hypervisor took 9 %")]
    return trial.model_copy(update={"validity": Validity(valid=False, reasons=reasons, warnings=[])})


def test_a_run_catches_what_breaks_a_limit_even_beside_disturbed_trials(tmp_path: Path) -> None:
    limits = make_thresholds(tmp_path)
    lossy = make_trial("node-ws", 1, results=[make_stage(100, {"loss_ratio": 0.5})])
    fine, noisy = make_trial("node-ws", 1), disturbed(make_trial("node-ws", 2))
    words = {}
    for name, trials in {"lossy": [lossy, noisy], "fine": [fine], "noisy": [noisy]}.items():
        record = make_record(trials)
        words[name] = said_by_verdict(judge(record, limits), record)
    assert words["lossy"][0] == "caught"
    assert words["fine"] == ("missed", [])
    assert words["noisy"] == ("disturbed", ["the hypervisor took 9 %"])


def test_a_comparison_catches_misses_or_does_not_decide() -> None:
    words = {}
    for name, trials in {
        "worse": arms("node-ws", cpu=0.3),
        "same": arms("node-ws"),
        "few": arms("node-ws", cpu=0.3, rounds=2),
        "noisy": [disturbed(trial) for trial in arms("node-ws", cpu=0.3)],
    }.items():
        record = compared(trials)
        words[name] = said_by_verdict(judge(record, THRESHOLDS), record)[0]
    assert words == {"worse": "caught", "same": "missed", "few": "undecided", "noisy": "disturbed"}


def test_the_table_names_what_was_missed_and_why(tmp_path: Path) -> None:
    file = tmp_path / "faults.json"
    look(file, Looker(), faults=[SOUND, "lost"], ways=["run"])
    look(file, Looker(), faults=["lost"], ways=["verify"])
    found = read_results(file, "go")
    table = rows(CATALOGUE, found)
    assert [row.cells for row in table] == [
        ["-", "passed, 65 s", "-"],
        ["missed, 65 s", "missed, 65 s", "-"],
        ["-", "-", "-"],
    ]
    assert tally(table).endswith(
        " 0 were caught, 0 undecided, 0 disturbed, 0 missed, and 2 open (not tried in every way yet)."
    )
    look(file, Looker(), faults=["lost"], ways=["compare"])
    assert "0 disturbed, 1 missed, and 1 open" in tally(rows(CATALOGUE, read_results(file, "go")))
    assert list(missed(table)) == [
        "some | lost, verify: missed: not explained",
        "some | lost, run: missed: the limit is 1 %",
    ]
    assert "| some \\| lost | missed, 65 s |" in markdown(CATALOGUE, found)


def test_a_false_alarm_is_called_one_and_what_one_way_caught_is_not_missed(tmp_path: Path) -> None:
    file = tmp_path / "faults.json"
    look(file, Looker(none="caught", lost="caught"), faults=[SOUND, "lost"], ways=["run"])
    look(file, Looker(), faults=["lost"], ways=["verify"])
    found = read_results(file, "go")
    table = rows(CATALOGUE, found)
    assert table[0].cells[1] == "false alarm, 65 s"
    assert list(missed(table)) == []
    assert "| some \\| lost | `run` | because |" in markdown(CATALOGUE, found)


def test_the_catalogue_has_every_fault_of_the_review_and_its_server() -> None:
    catalogue = read_catalogue(Project.current())
    assert len({fault.setting for fault in catalogue.everything}) == 23
    assert len({fault.name for fault in catalogue.everything}) == 23
