"""`pushbench history` and `pushbench judge` with capacities, as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushbench.judging.judged_capacity import CapacityVerdict
from pushbench.metrics.carrying import results_of
from pushbench.metrics.kept import entry_of
from pushbench.records.capacity_history import append
from pushbench.records.record import Failure
from pushbench.reporting.capacities import render_capacities
from tests.capacity.capacities import make_capacity_record, make_server, make_start
from tests.cli.checkouts import Checkout
from tests.factories import make_record, make_trial
from tests.records.capacity_entries import THREE, elsewhere, search

LESS = ((4000, 4120), (4100, 4220), (4200, 4320))


@pytest.fixture
def checkout(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Checkout:
    return Checkout(tmp_path, capsys, monkeypatch)


def keep(checkout: Checkout, *days: int) -> None:
    for day in days:
        checkout.write_capacity(search(day, *THREE))
        assert checkout("history", "--add", "capacity")[0] == 0


def test_the_history_shows_what_a_server_carried(checkout: Checkout) -> None:
    keep(checkout, 10, 11, 12, 13, 14)
    _, out, _ = checkout("history", "node-ws", "capacity")
    lines = out.splitlines()
    assert lines[0] == "node-ws: capacity of whiteboard, clients, 5 searches"
    assert "level 5,200, band 5,200 to 5,200, from the last 5 numbers" in lines
    assert lines[-1].split("  ")[0] == "2026-11-14"
    assert "5,200 [5,000 to 5,400]  delivery p95 812 ms, limit 500 ms" in lines[-1]
    _, out, _ = checkout("history")
    assert out == (
        "capacity of whiteboard, clients\nserver   searches  newest\nnode-ws  5         5,200 [5,000 to 5,400]\n"
    )


def test_the_history_of_capacities_is_for_programs_too(checkout: Checkout) -> None:
    keep(checkout, 10)
    code, out, err = checkout("history", "node-ws", "capacity", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "")
    assert (found["searched"], found["environment"], found["band"]) == ("clients", "0123456789ab", None)
    (point,) = found["points"]
    assert (point["carried"], point["low"], point["high"], point["starts"]) == (5200, 5000, 5400, [5000, 5200, 5300])
    _, out, _ = checkout("history", "node-ws", "capacity", "--csv")
    head, row = out.splitlines()
    assert head == "record,created,commit,subject,carried,low,high,at_least,end,binds"
    assert row.endswith(",5200,5000,5400,False,limit,cpu")


def test_the_history_names_searches_that_it_leaves_out(checkout: Checkout) -> None:
    keep(checkout, 10)
    other = search(11, *THREE, parameters={"board_size": 20})
    checkout.write_capacity(other)
    assert checkout("history", "--add", other.id)[0] == 0
    _, out, said = checkout("history", "node-ws", "capacity")
    assert "1 search\n" in out
    assert said.startswith("left out: 1 search of whiteboard with other limits")


def test_runs_and_capacities_are_listed_side_by_side(checkout: Checkout) -> None:
    run = make_record([make_trial("node-ws")])
    checkout.write(run)
    assert checkout("history", "--add", "latest")[0] == 0
    keep(checkout, 10)
    _, out, _ = checkout("history", "--profile", "quick")
    assert out.splitlines()[0].split() == ["server", "runs", "first", "last", "stages"]
    assert "capacity of whiteboard, clients" in out


def test_a_search_is_shown_again_as_the_command_printed_it(checkout: Checkout) -> None:
    found = search(10, *THREE)
    checkout.write_capacity(found)
    code, out, err = checkout("show", "capacity")
    assert (code, err) == (0, "")
    assert out == render_capacities(found, results_of(found))
    assert checkout("show", found.id[:8])[1] == out
    assert json.loads(checkout("show", "capacity", "--json")[1])["results"][0]["carried"] == 5200
    code, _, err = checkout("show", "capacity", "--stage", "100")
    assert code == 2
    assert f"{found.id} is a capacity record: it has no stages" in err


def test_a_server_without_a_capacity_fails_without_a_number(checkout: Checkout) -> None:
    dead = make_server([], "node-ws", failure=Failure(step="start", message="it is dead"))
    checkout.write_capacity(make_capacity_record([dead]))
    code, out, _ = checkout("judge", "capacity")
    assert code == 1
    assert out.endswith("\n\nnode-ws: failed, no number\n  because failed to start: it is dead\n")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["history", "node-ws", "capacity"], "the history has no capacities; `./pushbench history --add capacity`"),
        (["history", "--add", "capacity"], "there is no capacity record yet; `./pushbench capacity` makes one"),
        (["judge", "capacity"], "there is no capacity record yet"),
    ],
)
def test_nothing_to_show_says_what_makes_it(checkout: Checkout, arguments: list[str], said: str) -> None:
    code, _, err = checkout(*arguments)
    assert code == 2
    assert said in err


def test_a_server_without_a_capacity_is_told_of_those_that_have_one(checkout: Checkout) -> None:
    keep(checkout, 10)
    code, _, err = checkout("history", "fastapi", "capacity")
    assert (code, "no capacity of fastapi; known: node-ws" in err) == (2, True)


def test_judge_holds_the_newest_search_against_the_history(checkout: Checkout) -> None:
    keep(checkout, 10, 11, 12, 13, 14)
    checkout.write_capacity(search(20, *THREE))
    code, out, _ = checkout("judge", "capacity")
    assert (code, out.splitlines()[1]) == (0, "against the searches before it: pass")
    checkout.write_capacity(search(21, *LESS))
    code, out, _ = checkout("judge", "capacity")
    assert (code, out.splitlines()[3]) == (1, "node-ws: worse, 4,100 [4,000 to 4,320] clients")
    assert checkout("judge", "20261120")[0] == 0, "the beginning of an id"
    empty = checkout.root / "empty"
    assert checkout("judge", "capacity", "--store", str(empty))[0] == 3
    assert checkout("judge", "capacity", "--store", str(empty), "--allow-inconclusive")[0] == 0


def test_judge_holds_a_file_against_a_base(checkout: Checkout) -> None:
    base = checkout.write_capacity(search(10, *THREE))
    file = checkout.root / "mine.json"
    file.write_bytes(checkout.write_capacity(search(11, *LESS)).read_bytes())
    code, out, err = checkout("judge", str(file), "--base", str(base), "--json")
    verdict = CapacityVerdict.model_validate_json(out)
    assert (code, err) == (1, "")
    assert (verdict.base, verdict.servers[0].word) == ("20261110T101500Z-1a2b3c", "worse")


def test_judge_refuses_what_cannot_be_compared(checkout: Checkout) -> None:
    checkout.write_capacity(search(11, *LESS))
    first = search(10, *THREE)
    checkout.write_capacity(first.model_copy(update={"environment": elsewhere(first.environment)}))
    code, _, err = checkout("judge", "capacity", "--base", "20261110")
    assert code == 2
    assert "from the environment ba9876543210, and 20261111T101500Z-1a2b3c from 0123456789ab; capacities of two" in err
    checkout.write(make_record([make_trial("node-ws")]))
    assert "latest is the record of a run" in checkout("judge", "capacity", "--base", "latest")[2]
    assert "--base is for a capacity record" in checkout("judge", "latest", "--base", "20261110")[2]


def test_latest_stays_the_newest_run(checkout: Checkout) -> None:
    checkout.write(make_record([make_trial("node-ws")]))
    checkout.write_capacity(search(30, *THREE))
    assert "Verdict" in checkout("judge", "latest")[1]
    assert checkout("judge", "20261130")[1].startswith("whiteboard: capacity in clients, record 20261130")


def test_a_beginning_of_two_searches_wants_more_of_it(checkout: Checkout) -> None:
    checkout.write_capacity(search(30, *THREE))
    checkout.write_capacity(search(29, *THREE))
    code, _, err = checkout("judge", "202611")
    assert code == 2
    assert "2 capacity records have ids that begin with '202611'; give more of the id" in err


def test_an_interrupted_search_is_judged_and_not_kept(checkout: Checkout) -> None:
    starts = [make_start(5000, 5120)]
    checkout.write_capacity(make_capacity_record([make_server(starts)], commit=search(1, *THREE).commit))
    code, out, _ = checkout("judge", "capacity")
    assert (code, "because 1 start that counts, and 3 are needed" in out) == (3, True)
    assert "node-ws has 1 of 3 starts" in checkout("history", "--add", "capacity")[2]


def test_capacities_of_two_suites_have_a_list_each(checkout: Checkout) -> None:
    keep(checkout, 10)
    series = search(11, *THREE)
    append(checkout.root / "history", entry_of(series.model_copy(update={"suite": "posts"})))
    assert checkout("history")[1].count("capacity of ") == 2
    assert checkout("history", "--suite", "posts")[1].count("capacity of ") == 1
