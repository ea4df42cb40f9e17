"""After a load, a service has each exchange that was answered, and none that no client began."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from pushbench.catalog.failures import ServerFailed
from pushbench.catalog.suites import Stored, find_suite
from pushbench.drivers.process import ProcessDriver
from pushbench.drivers.unaccounted import Unaccounted
from pushbench.measuring.storing import stock
from pushbench.records.load_report import LoadTimeline
from tests.support import make_project
from tests.tiny_runs import measure
from tests.tiny_runs import no_real_generator as no_real_generator  # noqa: PLC0414 - a fixture

COUNT = "SELECT COUNT(*) FROM post"
STORED = Stored(service="mysql", ask=COUNT)
SCENARIOS = Path(__file__).parents[3] / "k6" / "scenarios"


@dataclass
class Database:
    """A database that answers with these numbers, in order."""

    answers: list[str]
    name: str = "mysql"
    url: str = "mysql://"
    tree: Unaccounted = field(default_factory=Unaccounted)
    asked: list[str] = field(default_factory=list)

    def ask(self, question: str) -> str:
        self.asked.append(question)
        return self.answers.pop(0)

    @contextmanager
    def outage(self) -> Iterator[None]:
        yield


def played(*, sent: list[int], received: list[int]) -> LoadTimeline:
    none = [0] * len(sent)
    columns = {"clients": none, "expected": none, "lost": none, "sent_bytes": none, "received_bytes": none}
    return LoadTimeline(sent=sent, received=received, latency=[None] * len(sent), **columns)


def added(rows: int) -> None:
    """Check a load of 120 requests in two seconds, 100 of them answered, that added this many rows to the table."""
    held = stock(STORED, [Database(["7\n", f"{7 + rows}\n"])])
    assert held
    held.require(played(sent=[70, 50], received=[60, 40]))


@pytest.mark.parametrize("rows", [100, 110, 120])
def test_what_was_sent_and_not_answered_may_be_there(rows: int) -> None:
    added(rows)


def test_what_was_answered_is_there() -> None:
    with pytest.raises(ServerFailed) as failed:
        added(99)
    assert failed.value.failure.step == "load"
    assert failed.value.failure.message == (
        "1 of 100 exchanges that the server answered are not in mysql, which has 99 more than before the load"
    )


def test_what_nobody_began_is_not_there() -> None:
    with pytest.raises(ServerFailed, match=r"has 121 more exchanges .* sent 120: 1 were stored twice or without"):
        added(121)


def test_an_answer_that_is_no_number_is_told() -> None:
    with pytest.raises(ServerFailed, match=r"mysql answered 'ERROR 1146' to 'SELECT .*: expected a number"):
        stock(STORED, [Database(["ERROR 1146"])])


def test_a_server_without_the_service_is_not_held_against_it() -> None:
    assert stock(STORED, [Database([], name="redis")]) is None
    assert stock(None, [Database([])]) is None


def test_posts_are_rows() -> None:
    assert find_suite(SCENARIOS, "posts").load("smoke", {}).stored == STORED


@pytest.mark.slow
def test_a_trial_whose_answers_were_not_stored_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = make_project(tmp_path / "checkout", x="")
    suite = project.scenarios / "tiny.yml"
    suite.write_text(f"{suite.read_text()}stored: {{service: mysql, ask: {COUNT}}}\n")
    database, running = Database(["0", "3"]), ProcessDriver.running

    @contextmanager
    def with_database(self: ProcessDriver, *arguments: object) -> Iterator[object]:
        with running(self, *arguments) as instance:  # type: ignore[arg-type]
            instance.services = [database]
            yield instance

    monkeypatch.setattr(ProcessDriver, "running", with_database)
    [trial] = measure(project).trials
    assert trial.failure
    assert "exchanges that the server answered are not in mysql, which has 3 more" in trial.failure.message
    assert trial.stages, "what was measured is kept"
    assert database.asked == [COUNT, COUNT]
