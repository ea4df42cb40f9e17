"""Names, scripts, windows, badges and the feed are written correctly, whatever is in records."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from xml.etree import ElementTree

import pytest

from pushbench.catalog.suites import read_suites
from pushbench.conformance import Rule
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.metrics.results import timeline
from pushbench.records.runs import Head
from pushbench.records.seconds import Timeline
from pushbench.site.badges import badge
from pushbench.site.context import method, read_context
from pushbench.site.events import Event
from pushbench.site.feed import feed, sentence
from pushbench.site.layout import SCHEMA, data_name, part, script
from pushbench.site.protocols import contract, promises, protocols
from pushbench.site.runfile import timelines
from pushbench.site.windows import RECENT, STEP, RunWindow, windows
from tests.factories import METRICS, make_record, make_trial
from tests.samples import load_report
from tests.site.demo_setting import HOSTILE

ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.mark.parametrize("name", [*HOSTILE, "..", ".", "../../etc/passwd", ".git", "a/b", "\u00fc\u4e2d", "~", ""])
def test_a_name_is_one_part_of_a_path_and_of_an_address(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_~-][A-Za-z0-9_.~-]*|", part(name))
    assert "/" not in part(name)


def test_names_that_differ_have_parts_that_differ() -> None:
    names = ["a/b", "a~2fb", "a--b", "a.b", ".ab", "~2eab", "A", "a"]
    assert len({part(name) for name in names}) == len(names)
    assert data_name("node-ws", "delivery_seconds.p95") == "node-ws/delivery_seconds.p95"


@pytest.mark.parametrize("text", HOSTILE)
def test_a_script_hands_over_its_text_and_does_nothing_else(text: str) -> None:
    found = re.fullmatch(rb"pushbenchData\('name','((?:[^'\\\n]|\\[\\'])*)'\)\n", script("name", {text: text}))
    assert found
    content = json.loads(re.sub(rb"\\([\\'])", rb"\1", found[1]))
    assert content == {"schema": SCHEMA, text: text}


def head(number: int, year: int = 2026) -> Head:
    return Head(f"{year}-{number:05}", f"{year}-01-01T00:00:00+00:00", None, "", {}, 100 + number % 7)


def test_a_window_holds_the_recent_runs_and_years_hold_the_others() -> None:
    heads = [*(head(n, 2024) for n in range(450)), *(head(n, 2025) for n in range(450)), *(head(n) for n in range(180))]
    found = windows(heads)
    assert [(each.name, each.begin, each.end) for each in found] == [
        ("2024", 0, 450),
        ("2025", 450, 500),
        ("recent", 500, 1080),
    ]


def test_a_new_run_changes_no_window_but_the_recent_one_until_that_moves_on() -> None:
    heads = [head(number) for number in range(RECENT + 3 * STEP)]
    for size in range(RECENT, len(heads)):
        before, after = by_name(windows(heads[:size])), by_name(windows(heads[: size + 1]))
        assert RECENT <= after["recent"].end - after["recent"].begin < RECENT + STEP
        assert after["recent"].version != before["recent"].version
        moved = (size + 1) % STEP == 0
        assert (after.get("2026") != before.get("2026")) == moved


def test_a_year_that_a_wrong_clock_parts_has_two_names() -> None:
    heads = [*(head(n, 2024) for n in range(50)), head(0, 2031), *(head(n, 2024) for n in range(50, 700))]
    assert [each.name for each in windows(heads)] == ["2024", "2031", "2024-2", "recent"]


def by_name(found: Sequence[RunWindow]) -> dict[str, RunWindow]:
    return {each.name: each for each in found}


EVENT = Event(
    id="1d0c1c9a-0000-5000-8000-000000000001",
    combination="0123456789ab/whiteboard/full/fceb6c",
    server="node-ws",
    metric="cpu_seconds_per_delivery",
    stage="1000",
    stages=["1000", "500"],
    word="worse",
    before=36.6e-6,
    after=41e-6,
    run="20261121T101500Z-1a2b3c",
    created="2026-11-21T10:15:00+00:00",
    commit="770fdf8a1b2c",
    previous="aa0fdf8a1b2c",
    subject="Send each stroke once",
)


def test_the_feed_has_what_became_worse_or_better_the_newest_first() -> None:
    better = replace(EVENT, id="2", word="better", after=30e-6, created="2026-11-22T10:15:00+00:00")
    entries = ElementTree.fromstring(feed([EVENT, better], {EVENT.combination: METRICS}, None)).findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title") for entry in entries] == [
        "node-ws: CPU per delivery better by 18.0 % at stages 1000, 500: 30 µs, was 36.6 µs",
        "node-ws: CPU per delivery worse by 12.0 % at stages 1000, 500: 41 µs, was 36.6 µs",
    ]
    [link] = [each.get("href") for each in entries[1].findall(f"{ATOM}link")]
    assert link == (
        "./#/trend?c=0123456789ab%2Fwhiteboard%2Ffull%2Ffceb6c&stage=1000&metric=cpu_seconds_per_delivery"
        "&s=node-ws&pin=20261121T101500Z-1a2b3c"
    )


def test_a_feed_without_events_is_a_feed() -> None:
    root = ElementTree.fromstring(feed([], {}, None))
    assert root.tag == f"{ATOM}feed"
    assert root.findtext(f"{ATOM}updated")


def test_every_repository_has_a_feed_of_its_own() -> None:
    places = [None, "https://github.com/somebody/pushbench", "https://github.com/another/pushbench"]
    ids = [ElementTree.fromstring(feed([], {}, place)).findtext(f"{ATOM}id") for place in places]
    assert len(set(ids)) == len(places)
    assert ids == [ElementTree.fromstring(feed([], {}, place)).findtext(f"{ATOM}id") for place in places]


@pytest.mark.parametrize("text", [*HOSTILE, "bell \x07 escape \x1b[31m"])
def test_hostile_text_stays_text_in_feed_and_badge(text: str) -> None:
    hostile = replace(EVENT, server=text, subject=text, stage=text, stages=[text], combination=text, run=text)
    [entry] = ElementTree.fromstring(feed([hostile], {text: METRICS}, text)).findall(f"{ATOM}entry")
    assert {each.tag for each in entry} == {
        f"{ATOM}{name}" for name in ("title", "id", "updated", "link", "category", "summary")
    }
    picture = ElementTree.fromstring(badge(text, "fail", text))
    assert {each.tag.rpartition("}")[2] for each in picture.iter()} == {"svg", "title", "rect", "path", "g", "text"}


def test_a_badge_says_in_words_what_its_colour_says() -> None:
    picture = ElementTree.fromstring(badge("node-ws", "pass", "delivery p95 0.63 ms"))
    assert picture.get("aria-label") == "node-ws: pass, delivery p95 0.63 ms"
    assert "not judged" in badge("node-ws", None, "")


def test_a_metric_that_was_0_has_no_share() -> None:
    loss = replace(EVENT, metric="loss_ratio", before=0.0, after=0.02, stages=["1000"])
    assert sentence(loss, METRICS) == "node-ws: loss worse at stage 1000: 2 %, was 0 %"


def by_second(found: Timeline) -> dict[str, list[float | None]]:
    record = make_record([make_trial("node-ws").model_copy(update={"timeline": found})])
    [trial] = timelines(record, "node-ws")["trials"]
    columns: dict[str, list[float | None]] = trial["timeline"]
    return columns


def test_loss_by_the_second_is_a_share_and_none_where_nothing_was_owed() -> None:
    measured = timeline(load_report([], seconds=3).timeline)
    columns = by_second(measured.model_copy(update={"expected": [0, 200, 300], "lost": [0, 0, 100]}))
    assert columns["loss_ratio"] == [None, 0, pytest.approx(1 / 3, rel=1e-3)]
    assert columns["network_out_bytes"] == [50_000] * 3


def test_what_was_not_recorded_by_the_second_is_not_there() -> None:
    measured = timeline(load_report([], seconds=2).timeline)
    missing = dict.fromkeys(("expected", "lost", "network_in_bytes", "network_out_bytes"))
    columns = by_second(measured.model_copy(update=missing))
    assert columns["received"] == [200, 200]
    assert not {"loss_ratio", *missing} & set(columns)


def test_protocols_are_told_in_the_words_of_their_document() -> None:
    text = """# All
## suite
### `some-json`: JSON on `GET /ws`

```
-> {"a": 1}
# no heading
```

- one
  and more
- two

After it,
in two lines.

| rule | what |
|---|---|
| `one` | it does |

## The contract of every server

It ends, as [elsewhere](x.md).

## Rules of some

More:
"""
    assert protocols(text) == {
        "some-json": {
            "title": "JSON on `GET /ws`",
            "blocks": [
                {"code": '-> {"a": 1}\n# no heading'},
                {"items": ["one and more", "two"]},
                {"text": "After it, in two lines."},
                {"rows": [["rule", "what"], ["`one`", "it does"]]},
            ],
        }
    }
    assert contract(text) == [{"text": "It ends, as elsewhere."}]
    assert (protocols(""), contract("")) == ({}, [])
    assert promises(text, "some", {}) == [{"text": "More:"}]


async def holds(_: object) -> None:
    """Checks nothing."""


def test_a_suites_servers_promise_what_its_rules_state_and_each_protocol_its_own() -> None:
    both, json, stomp = (Rule(name, f"{name}.", holds, 1, False, False) for name in ("both", "json", "stomp"))
    assert promises("", "some", {"some-json": [both, json], "some-stomp": [stomp, both]}) == [
        {"items": ["both."]},
        {"text": "Over `some-json` also:"},
        {"items": ["json."]},
        {"text": "Over `some-stomp` also:"},
        {"items": ["stomp."]},
    ]
    assert promises("", "some", {"some-json": [both]}) == [{"items": ["both."]}]


def test_the_promises_of_every_suite_of_this_checkout_are_told_and_are_its_own() -> None:
    told = method(read_context(Project.current(), None), Thresholds("", {}))
    for suite in told["suites"]:
        statements = [text for block in suite["contract"] for text in block.get("items", [])]
        assert len(statements) >= 15
        assert any(len(block.get("rows", [])) > 5 for block in suite["contract"])
        assert not [text for text in statements if "/healthz answers 200" in text], "that is of every server"


def test_every_protocol_of_this_checkout_is_told() -> None:
    project = Project.current()
    text = (project.root / "docs" / "protocols.md").read_text()
    told = protocols(text)
    for suite in read_suites(project.scenarios):
        assert all(told[name]["title"] and told[name]["blocks"] for name in suite.spec.protocols)
    assert any(len(block.get("items", [])) >= 5 for block in contract(text))
