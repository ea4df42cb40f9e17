"""Several suites on one site: each uses its own words, from its file or else from its records."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pushbench.foundation.project import Project
from pushbench.records import store
from pushbench.records.record import Record
from pushbench.records.vocabulary import Vocabulary
from tests.factories import make_record, make_trial, measured
from tests.site.checkouts import PROFILE, Site
from tests.site.demo_suites import TOKENS, told_record

OTHER_TITLES = Vocabulary.model_validate_json(TOKENS.model_dump_json().replace("First token", "Begin"))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def token_record(number: int = 0, words: Vocabulary = TOKENS) -> Record:
    record = told_record(make_record([make_trial("go-sse")]), "tokens")
    moment = f"2026-11-22T10:15:0{number}+00:00"
    return record.model_copy(update={"id": f"20261122T10150{number}Z-000000", "created": moment, "words": words})


def add_suite(site: Site) -> None:
    (site.project.scenarios / "tokens.yml").write_text(
        f"title: Token stream\ndescription: D\nprotocols: [p]\nparameters: {{}}\nwords: {TOKENS.model_dump_json()}\n"
        f"regressions: {{first_token_seconds.p95: {{margin: 20%}}}}\nprofiles: {{full: {PROFILE}}}\n"
    )


def test_each_suite_has_its_words_its_columns_and_its_margins(site: Site) -> None:
    add_suite(site)
    store.write_record(site.records, make_record([make_trial("node-ws")]))
    store.write_record(site.records, token_record())
    site.build()
    suites = site.manifest["suites"]
    assert list(suites) == ["tokens", "whiteboard"]
    tokens = suites["tokens"]
    assert (tokens["title"], tokens["work"], tokens["exchanges"]) == ("Token stream", "tokens", "streams")
    assert (tokens["headline"], tokens["cost"]) == ("first_token_seconds.p95", "cpu_seconds_per_token")
    assert tokens["latencies"] == {"first_token": "First token", "complete": "Complete", "gap": "Gap"}
    assert {"gap_seconds.max", "cpu_seconds_per_token"} <= set(tokens["columns"]) <= set(tokens["metrics"])
    assert not [name for name in tokens["metrics"] if re.search("delivery|echo|fanout", name)]
    assert set(site.manifest["margins"]["tokens"]) == {"first_token_seconds.p95"}
    by_suite = {each["suite"]: each for each in site.manifest["combinations"]}
    assert "first_token_seconds.p95" in by_suite["tokens"]["metrics"]
    [told] = [each for each in site.data("method")["suites"] if each["id"] == "tokens"]
    assert {"title": "Gap", "until": "gap"} in told["latencies"]
    assert [each["metric"] for each in told["margins"]] == ["first_token_seconds.p95"]


@pytest.mark.slow
def test_a_suite_that_is_not_in_the_checkout_has_the_words_of_its_newest_record(site: Site) -> None:
    store.write_record(site.records, token_record(1, OTHER_TITLES))
    site.build()
    store.write_record(site.records, token_record(0))
    site.build()
    tokens = site.manifest["suites"]["tokens"]
    assert (tokens["title"], tokens["latencies"]["first_token"]) == ("Tokens", "Begin")
    [combination] = site.manifest["combinations"]
    assert "cpu_seconds_per_token" in combination["metrics"]
    assert site.data(f"{combination['id']}/overview")["sparkline"] == "cpu_seconds_per_token"
    again = site.root / "again"
    site.build(again)
    assert site.files(again) == site.files()


def test_every_server_has_a_badge_and_all_together_have_the_worst_verdict(site: Site) -> None:
    add_suite(site)
    store.write_record(site.records, make_record([measured("node-ws", {"loss_ratio": 0.02})]))
    store.write_record(site.records, token_record())
    site.build()

    def said(name: str) -> str:
        text = (site.out / "badges" / f"{name}.svg").read_text()
        return text.partition("<title>")[2].partition("</title>")[0]

    assert said("node-ws") == "node-ws: fail, delivery p95 2.10 ms"
    assert said("go-sse") == "go-sse: inconclusive, first token p95 2.10 ms"
    assert said("all") == "pushbench: fail"


PROSE = re.compile(r"deliver(y|ies)|\becho|fan-?out|whiteboard|\bboards?\b", re.IGNORECASE)


def test_the_pages_know_no_word_of_one_suite() -> None:
    sources = list((Project.current().pages / "src").rglob("*.ts*"))
    found = {path.name: PROSE.findall(path.read_text()) for path in sources}
    assert len(found) > 30
    assert {name: words for name, words in found.items() if words} == {}
