"""The information above every ranking: how often the judge is right, and the result of each server's last run."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from pushbench.calibration.error_rates import Calibration
from pushbench.calibration.rates import rate
from pushbench.records import store
from pushbench.site.trust import error_rates
from pushbench.statistics.ties import alike
from tests.comparisons import arms, compared
from tests.factories import invalid, make_record, make_trial, measured
from tests.site.checkouts import Site


def case(injected: str, worse: int, runs: int, how: str = "real") -> dict[str, object]:
    failed = {"count": worse, "of": runs, "low": 0.0, "high": 1.0}
    return {
        **{"server": "go", "injected": injected, "how": how, "runs": runs, "rounds": 9.0, "most_rounds": 40},
        **{"words": {}, "failed": failed},
    }


def calibration(*cases: dict[str, object]) -> Calibration:
    return Calibration.model_validate({"environments": [], "thresholds_digest": "0", "cases": cases})


def test_error_rates_are_those_of_real_comparisons_over_all_servers() -> None:
    cases = [case("none", 1, 5), case("rebuilt", 1, 5), case("none", 2, 2000, "resampled")]
    cases += [case("burn=10%", 7, 8), case("burn=10%", 500, 500, "resampled"), case("burn=5%", 3, 9)]
    found = error_rates(calibration(*cases))
    assert found == {"equal": {"count": 2, "of": 10, "most": rate(2, 10).high}, "slower": {"count": 7, "of": 8}}


def test_without_a_calibration_nobody_knows() -> None:
    assert error_rates(None) is None


def night(site: Site, number: int, *, cpu: float = 0.0, injected: str = "rebuilt", fixed: bool = False) -> None:
    record = compared(arms("node-ws", cpu=cpu), injected=injected, fixed=fixed)
    store.write_record(site.records, record.model_copy(update={"id": f"20261122T03000{number}Z-aaaaaa"}))


def equal(site: Site) -> dict[str, float]:
    site.build()
    found = site.manifest["judge"]["equal"]
    assert isinstance(found, dict)
    return found


def test_each_comparison_of_a_server_with_itself_counts_and_shrinks_the_bound(tmp_path: Path) -> None:
    site = Site(tmp_path)
    night(site, 1)
    assert equal(site) == {"count": 0, "of": 1, "most": rate(0, 1).high}
    night(site, 2, injected="none")
    assert equal(site) == {"count": 0, "of": 2, "most": rate(0, 2).high}
    assert equal(site) == {"count": 0, "of": 2, "most": rate(0, 2).high}, "what was built before is known"
    night(site, 3, cpu=0.5)
    assert equal(site) == {"count": 1, "of": 3, "most": rate(1, 3).high}, "a false alarm"
    rows = {(each["injected"], each["how"]): each["runs"] for each in site.data("method")["calibration"]["cases"]}
    assert rows == {("none", "this site"): 1, ("rebuilt", "this site"): 2}


def test_other_comparisons_say_nothing_of_false_alarms(tmp_path: Path) -> None:
    site = Site(tmp_path)
    night(site, 1, injected="burn=50%", cpu=0.5)
    night(site, 2, fixed=True)
    record = compared(arms("node-ws", cpu=0.5))
    store.write_record(site.records, record.model_copy(update={"id": "20261122T030003Z-aaaaaa"}))
    site.build()
    assert site.manifest["judge"] is None


def test_a_comparison_that_the_checkout_counts_does_not_count_twice(tmp_path: Path) -> None:
    site = Site(tmp_path)
    for number in (1, 2):
        night(site, number)
    counted = calibration(case("rebuilt", 0, 10)).model_copy(update={"records": ["20261122T030001Z-aaaaaa"]})
    file = site.project.root / "docs" / "calibration.json"
    file.parent.mkdir()
    file.write_text(counted.model_dump_json(by_alias=True))
    assert equal(site)["of"] == 11


@pytest.mark.parametrize(("loss", "outcome"), [(0.0, "pass"), (0.5, "fail")])
def test_each_server_has_the_outcome_of_its_last_run(tmp_path: Path, loss: float, outcome: str) -> None:
    site = Site(tmp_path)
    trials = [measured("node-ws", {"loss_ratio": loss}), invalid(make_trial("go"))]
    store.write_record(site.records, make_record(trials))
    site.build()
    [combination] = site.manifest["combinations"]
    rows = site.data(f"{combination['id']}/overview")["rows"]
    assert {row["server"]: row["outcome"] for row in rows} == {"node-ws": outcome, "go": "invalid"}


def test_what_chance_does_to_a_latency_follows_from_the_starts_and_is_that_of_rankings(tmp_path: Path) -> None:
    site = Site(tmp_path)
    trials = [make_trial("node-ws"), make_trial("go", 1), make_trial("go", 2), invalid(make_trial("bun"))]
    store.write_record(site.records, make_record(trials))
    site.build()
    [combination] = site.manifest["combinations"]
    chance = {row["server"]: row["chance"] for row in site.data(f"{combination['id']}/overview")["rows"]}
    assert chance["bun"] is None
    assert math.exp(math.hypot(chance["node-ws"], chance["go"])) == pytest.approx(alike(1, 2), rel=1e-3)
