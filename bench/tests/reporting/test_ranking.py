"""The answer of a run: the rank of each server, or why it has none, and the remarks about noise."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from pushbench.judging.verdict import Verdict, judge
from pushbench.records.record import Outage, Record
from pushbench.reporting import report
from pushbench.reporting.ranking import Ranking, rank
from tests.factories import failed, invalid, make_record, make_thresholds, make_trial, measured
from tests.reporting.shown_records import CONTROL, HOSTILE, bad, hostile, widest

WIDTHS = [60, 80, 160]

Judged = Callable[[Record], tuple[Record, Verdict]]
Ranked = Callable[[Record], Ranking]


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    return lambda record: (record, judge(record, make_thresholds(tmp_path)))


@pytest.fixture
def ranked(judged: Judged) -> Ranked:
    def of(record: Record) -> Ranking:
        found = rank(*judged(record), 3)
        assert found
        return found

    return of


def of_p95(seconds: Mapping[str, list[float]]) -> Record:
    """A record of servers with these values of delivery p95 by round, at 1,000 clients."""
    return make_record(
        [
            measured(server, {"delivery_seconds.p95": value, "lateness_seconds.p95": 0.0}, round_=round_)
            for server, values in seconds.items()
            for round_, value in enumerate(values, start=1)
        ]
    )


def places(ranking: Ranking) -> list[tuple[int, str]]:
    return [(each.place, each.server) for each in ranking.places]


def test_a_stage_with_an_outage_has_no_ranking(judged: Judged) -> None:
    record = of_p95({"fastapi": [0.006], "node-ws": [0.002]})
    outage = Outage(kill="server", at_seconds=2.0, within_seconds=5.0)
    stages = [each.model_copy(update={"outage": outage}) for each in record.schedule.stages]
    killed = record.model_copy(update={"schedule": record.schedule.model_copy(update={"stages": stages})})
    assert rank(*judged(record), 3)
    assert rank(*judged(killed), 3) is None


def test_the_headline_of_the_largest_stage_decides(ranked: Ranked) -> None:
    found = ranked(of_p95({"fastapi": [0.006], "node-ws": [0.002], "spring-stomp": [0.0025]}))
    assert (found.metric, found.name) == ("delivery_seconds.p95", "1000")
    assert places(found) == [(1, "node-ws"), (1, "spring-stomp"), (3, "fastapi")]
    assert [each.times_best for each in found.places] == [1.0, pytest.approx(1.25), pytest.approx(3.0)]


def test_one_round_says_that_it_shows_no_noise(ranked: Ranked) -> None:
    found = ranked(of_p95({"fastapi": [0.006], "node-ws": [0.002]}))
    assert found.basis.startswith("Servers that differ by less than 39 % share a place. One round does not show")
    assert "--rounds 4" in found.basis


def test_rounds_that_can_be_tested_are(ranked: Ranked) -> None:
    close = {"fastapi": [0.00205, 0.00206, 0.00207, 0.00208], "node-ws": [0.00200, 0.00201, 0.00202, 0.00203]}
    found = ranked(of_p95(close))
    assert places(found) == [(1, "node-ws"), (2, "fastapi")]
    assert "over 4 rounds" in found.basis
    fewer = ranked(of_p95({server: values[:3] for server, values in close.items()}))
    assert places(fewer) == [(1, "node-ws"), (1, "fastapi")]
    assert "less than 21 %" in fewer.basis


def test_the_generators_own_lateness_sets_nobody_apart(ranked: Ranked) -> None:
    late = {"delivery_seconds.p95": 0.004, "lateness_seconds.p95": 0.003}
    found = ranked(make_record([measured("fastapi", late), measured("node-ws", {"delivery_seconds.p95": 0.002})]))
    assert [each.place for each in found.places] == [1, 1]


def test_what_failed_or_is_invalid_has_no_place_but_a_reason(ranked: Ranked) -> None:
    found = ranked(bad())
    assert places(found) == [(1, "node-ws")]
    assert [(each.server, each.outcome) for each in found.unplaced] == [
        ("fastapi", "fail"),
        ("spring-stomp", "fail"),
        ("spring-websocket", "invalid"),
    ]
    assert found.unplaced[0].reason == "delivery p95 8.10 s at 1,000 clients, limit 500 ms"
    assert "no answer on /healthz" in found.unplaced[1].reason


def test_invalid_rounds_do_not_count(ranked: Ranked) -> None:
    slow = measured("node-ws", {"delivery_seconds.p95": 0.4}, round_=2)
    found = ranked(make_record([make_trial("node-ws"), invalid(slow)]))
    assert found.places[0].value == pytest.approx(0.0021)
    assert found.places[0].trials == 1


def test_a_server_that_measured_no_headline_is_named(ranked: Ranked) -> None:
    found = ranked(make_record([measured("fastapi", {"delivery_seconds.p95": None}), make_trial("node-ws")]))
    assert places(found) == [(1, "node-ws")]
    assert [(each.server, each.reason) for each in found.unplaced] == [("fastapi", "no delivery p95 was measured")]


def test_a_server_of_which_something_is_unknown_has_a_place_and_the_word(judged: Judged) -> None:
    record = make_record([make_trial("node-ws"), make_trial("fastapi")], planned=[make_trial("node-ws", 2)])
    text = report.render_terminal(*judged(record))
    assert re.search(r"node-ws +2\.10 ms.* inconclusive", text)


def test_profiles_of_seconds_rank_nothing(judged: Judged) -> None:
    record, verdict = judged(of_p95({"fastapi": [0.006], "node-ws": [0.002]}))
    short = record.model_copy(update={"judges_times": False})
    assert rank(short, verdict, 3) is None
    assert "Ranking" not in report.render_terminal(short, verdict)
    assert report.as_json(short, verdict)["ranking"] is None


def test_a_single_server_is_told_not_ranked(judged: Judged) -> None:
    text = report.render_terminal(*judged(make_record([make_trial("node-ws")])))
    assert "Delivery p95, at 1,000 clients\n  1  node-ws  2.10 ms\n" in text
    assert "Ranking" not in text
    assert "share a place" not in text


@pytest.mark.parametrize("width", WIDTHS)
def test_it_stands_before_the_table_at_every_width(judged: Judged, width: int) -> None:
    record = of_p95({"fastapi-workers-redis": [0.006, 0.007], "node-ws": [0.002, 0.0021], "go": [0.0022, 0.0024]})
    text = report.render_terminal(*judged(record), width=width)
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert lines.index("Ranking by delivery p95, at 1,000 clients") < next(
        index for index, line in enumerate(lines) if line.startswith("Clients ")
    )
    ranking = [line.split() for line in lines if re.match(r"  \d=? ", line)]
    assert [line[:4] for line in ranking] == [
        ["1=", "node-ws", "2.05", "ms"],
        ["1=", "go", "2.30", "ms"],
        ["3", "fastapi-workers-redis", "6.50", "ms"],
    ]
    assert ranking[2][4:] == ["6-7", "3.2", "x"]


def test_the_stage_that_is_asked_for_is_ranked(judged: Judged) -> None:
    slow = measured("fastapi", {"delivery_seconds.p95": 0.006})
    record, verdict = judged(make_record([slow, make_trial("node-ws")]))
    text = report.render_terminal(record, verdict, stages=[1])
    assert "Ranking by delivery p95, at 300 clients\n  1=  fastapi" in text
    both = report.render_terminal(record, verdict, stages=[1, 3])
    assert [line for line in both.splitlines() if line.startswith("  2")] == ["  2  fastapi     6 ms  2.9 x"]


def test_markdown_and_json_have_it(judged: Judged) -> None:
    record, verdict = judged(of_p95({"fastapi": [0.006], "node-ws": [0.002]}))
    html = MarkdownIt("commonmark").enable("table").render(report.markdown(record, verdict))
    assert html.index("Ranking by delivery p95") < html.index("<h2>1,000 clients")
    assert re.search(r"<td>2</td>\s*<td>fastapi</td>\s*<td[^>]*>6 ms</td>", html)
    assert [each["server"] for each in report.as_json(record, verdict)["ranking"]["places"]] == ["node-ws", "fastapi"]


def test_markdown_has_a_column_for_rounds_only_if_there_are_several(judged: Judged) -> None:
    of_one, of_two = (
        report.markdown(*judged(of_p95({"fastapi": fast, "node-ws": slow})))
        for fast, slow in [([0.002], [0.006]), ([0.002, 0.003], [0.006, 0.006])]
    )
    assert "|  | server | value | times the best |\n| --- | --- | ---: | ---: |\n| 1 | fastapi | 2 ms |  |" in of_one
    assert "|  | server | value | rounds | times the best |\n| --- | --- | ---: | ---: | ---: |" in of_two
    assert "| 1 | fastapi | 2.50 ms | 2-3 |  |\n| 2 | node-ws | 6 ms |  | 2.4 x |" in of_two


def test_hostile_names_and_reasons_stay_text(judged: Judged) -> None:
    for record in (hostile(), make_record([make_trial(HOSTILE), failed(f"{HOSTILE}2", message=HOSTILE)])):
        html = MarkdownIt("commonmark").enable("table").render(report.markdown(*judged(record)))
        assert "<script" not in html
        assert "<a " not in html
        for width in WIDTHS:
            text = report.render_terminal(*judged(record), width=width)
            assert CONTROL.search(text) is None
            assert widest(text) <= width
