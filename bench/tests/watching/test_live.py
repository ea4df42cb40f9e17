"""A live run streams its samples, and a store that fails, hangs or dies does not change the measurement."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pushbench.building.builds import build_generator
from pushbench.catalog.suites import find_suite
from pushbench.cli.run import LIVE_URL, with_resume_value
from pushbench.drivers.choice import DriverChoice
from pushbench.drivers.driver import Build
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.generator.load import Generator
from pushbench.judging.thresholds import NO_THRESHOLDS, Thresholds
from pushbench.machine.environment import physical_cores, read_environment, split_cpus
from pushbench.machine.resources import Usage
from pushbench.machine.sampling import Sample
from pushbench.measuring import preparation, run
from pushbench.measuring.common import Options
from pushbench.measuring.preparation import build_all, select_servers
from pushbench.measuring.run import RunRequest
from pushbench.measuring.trial import Bench, run_trial
from pushbench.records import store
from pushbench.records.record import PlannedTrial, Record, Schedule, StagePlan
from pushbench.watching.live import Stream, StreamedTrial, line, open_stream
from pushbench.watching.live_endpoint import PATIENCE_SECONDS, Endpoint
from pushbench.watching.progress import Lines
from tests.factories import LIMITS, make_record, make_thresholds
from tests.serving import LOOPBACK, QuietHandler, serving
from tests.support import fake_generator, make_project

CHECKOUT = Project.at(Path(__file__).parents[3])
SCHEDULE = Schedule(
    warmup_seconds=0,
    stages=[
        StagePlan(clients=clients, name=name, ramp_seconds=1, settle_seconds=0, steady_seconds=2)
        for clients, name in ((100, "100"), (300, "classroom-300"))
    ],
    drain_seconds=1,
)

pytestmark = pytest.mark.slow


@dataclass
class Store:
    """The part of a VictoriaMetrics that a run uses; with `status` None, it accepts requests and never answers."""

    url: str = ""
    status: int | None = 204
    posts: dict[str, list[bytes]] = field(default_factory=dict)
    """bodies by path"""
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def lines(self) -> list[str]:
        return b"".join(self.posts.get("/api/v1/import/prometheus", [])).decode().splitlines()

    def values(self, name: str, **labels: str) -> list[float]:
        wanted = [f'{label}="{value}"' for label, value in labels.items()]
        found = [each for each in self.lines if each.startswith(name + "{") and all(pair in each for pair in wanted)]
        return [float(each.rpartition("} ")[2].split()[0]) for each in found]


@pytest.fixture
def victoria() -> Iterator[Store]:
    kept = Store()

    class Handler(QuietHandler):
        def do_POST(self) -> None:  # noqa: N802 - a name that http.server asks for
            body = self.rfile.read(int(self.headers["Content-Length"]))
            kept.posts.setdefault(self.path, []).append(body)
            if kept.status is None:
                kept.released.wait(60)
                return
            self.send_response(kept.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

    with serving(ThreadingHTTPServer((LOOPBACK, 0), Handler)) as host:
        kept.url = f"http://{host}"
        yield kept
        kept.released.set()


class Notebook(Lines):
    def __init__(self) -> None:
        super().__init__()
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture
def measure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A run of a fake server under a fake load of half a second."""
    monkeypatch.setattr(preparation, "build_generator", lambda *_: fake_generator(tmp_path / "fake-k6"))
    monkeypatch.setenv("PUSHBENCH_LOCK", str(tmp_path / "lock"))
    project = make_project(tmp_path / "checkout", x="")

    def run_it(url: str | None, watch: Lines | None = None) -> Record:
        how = Options(DriverChoice("process"), verify=False, live=url)
        return run.run(project, RunRequest("tiny", "smoke"), how, watch or Notebook())

    run_it.project = project  # type: ignore[attr-defined]
    return run_it


def nobody() -> str:
    """A URL on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def test_a_live_run_streams_resources_and_stages_and_says_so_in_its_record(victoria: Store, measure: Any) -> None:
    record = measure(victoria.url)
    assert record.live
    assert store.read_record(store.find_record(measure.project.records)) == record
    only = {"run": record.id, "server": "x"}
    for program in ("server", "generator"):
        cpu = victoria.values("pushbench_cpu_seconds_total", program=program, **only)
        assert cpu
        assert cpu == sorted(cpu)
        assert min(victoria.values("pushbench_memory_bytes", program=program, **only)) > 1e6
        assert min(victoria.values("pushbench_threads", program=program, **only)) >= 1
    assert not victoria.values("pushbench_memory_bytes", program="services"), "the server needs none"
    assert set(victoria.values("pushbench_stage_clients", stage="20", **only)) == {20}
    assert set(victoria.values("pushbench_stage_measured", stage="20", **only)) == {0, 1}


def test_a_run_that_is_not_live_says_nothing_to_anybody(victoria: Store, measure: Any) -> None:
    assert not measure(None).live
    assert not victoria.posts


def test_a_store_that_does_not_answer_at_the_start_is_an_error_before_anything_is_done(measure: Any) -> None:
    watch = Notebook()
    url = nobody()
    with pytest.raises(UserError, match=f"--live: no VictoriaMetrics at {url}: Connection refused; `make stack`"):
        measure(url, watch)
    assert watch.notes == []
    assert not measure.project.records.exists()


def test_something_else_that_answers_is_no_store(victoria: Store, measure: Any) -> None:
    victoria.status = 404
    with pytest.raises(UserError, match=r"no VictoriaMetrics at .*: answers 404"):
        measure(victoria.url)


@pytest.mark.parametrize("status", [500, None])
def test_a_store_that_fails_later_costs_one_note_and_no_trial(
    victoria: Store, measure: Any, status: int | None
) -> None:
    class FailsLater(Notebook):
        def trial(self, *arguments: Any) -> None:
            victoria.status = status
            super().trial(*arguments)

    watch = FailsLater()
    record = measure(victoria.url, watch)
    assert record.trials[0].failure is None
    assert record.trials[0].resources
    why = "answers 500" if status else f"no answer within {PATIENCE_SECONDS:g} s"
    told = [note for note in watch.notes if note.startswith("live:")]
    assert told == [f"live: {victoria.url} does not answer ({why}); measuring continues without it"]


def test_a_resumed_run_is_live_when_either_part_was(victoria: Store, measure: Any) -> None:
    record = measure(None)
    path = store.write_record(measure.project.records, record.model_copy(update={"trials": []}))
    how = Options(DriverChoice("process"), verify=False, live=victoria.url)
    assert run.resume(measure.project, path, how, Notebook()).live


def usage(cpu: float) -> Usage:
    return Usage(
        at=0, cpu_seconds=cpu, user_seconds=cpu, system_seconds=0, memory_bytes=5_000_000, threads=7, processes=1
    )


PLANNED = PlannedTrial(server="node-ws", round=1, order=0, seed=1)
RECORD = make_record([], id="r-1", schedule=SCHEDULE)


def streamed(at: float, thresholds: Thresholds = NO_THRESHOLDS) -> list[str]:
    """The lines of one sample, without its time; the steady windows are 1 to 3 and 4 to 6."""
    texts: list[str] = []
    trial = StreamedTrial(Endpoint.parse("http://store:8428"), texts.append, RECORD, PLANNED, thresholds)
    trial.begin([(1.0, 3.0), (4.0, 6.0)])
    trial.sample(Sample(at, usage(1.5), None, usage(0.25), None))
    return [each.rpartition(" ")[0] for each in texts[0].splitlines()]


@pytest.mark.parametrize(
    ("at", "stage", "measured"),
    [
        (0, "100", 0),
        (1, "100", 1),
        (2.9, "100", 1),
        (3, "classroom-300", 0),
        (4, "classroom-300", 1),
        (5.9, "classroom-300", 1),
        (6.1, "classroom-300", 0),
    ],
)
def test_a_ramp_belongs_to_the_stage_that_it_leads_to(at: float, stage: str, measured: int) -> None:
    labels = f'{{run="r-1",server="node-ws",stage="{stage}"}}'
    clients = stage.rpartition("-")[2]
    assert streamed(at)[:2] == [
        f"pushbench_stage_clients{labels} {clients}",
        f"pushbench_stage_measured{labels} {measured}",
    ]


def test_a_program_that_is_not_there_is_left_out() -> None:
    assert streamed(0)[2:] == [
        'pushbench_cpu_seconds_total{run="r-1",server="node-ws",program="server"} 1.5',
        'pushbench_memory_bytes{run="r-1",server="node-ws",program="server"} 5000000',
        'pushbench_threads{run="r-1",server="node-ws",program="server"} 7',
        'pushbench_cpus{run="r-1",server="node-ws",program="server"} 2',
        'pushbench_cpu_seconds_total{run="r-1",server="node-ws",program="generator"} 0.25',
        'pushbench_memory_bytes{run="r-1",server="node-ws",program="generator"} 5000000',
        'pushbench_threads{run="r-1",server="node-ws",program="generator"} 7',
        'pushbench_cpus{run="r-1",server="node-ws",program="generator"} 2',
    ]


def test_the_limits_that_panels_draw_are_streamed_by_stage(tmp_path: Path) -> None:
    own = "servers: {node-ws: {whiteboard: {limits: {loss_ratio: {max: 20%, stages: [classroom-300], reason: x}}}}}\n"
    thresholds = make_thresholds(tmp_path, f"{LIMITS}      echo_seconds.p95: {{max: 1s}}\n{own}")
    found = [[each for each in streamed(at, thresholds) if "pushbench_limit" in each] for at in (1, 4)]
    labels = 'pushbench_limit{run="r-1",server="node-ws",metric'
    p95 = f'{labels}="delivery_seconds.p95"}} 0.5'
    assert found == [[f'{labels}="loss_ratio"}} {loss}', p95] for loss in (0.01, 0.2)]


def test_samples_have_the_time_at_which_they_were_taken() -> None:
    texts: list[str] = []
    trial = StreamedTrial(Endpoint.parse("http://store:8428"), texts.append, RECORD, PLANNED, NO_THRESHOLDS)
    trial.begin([(1.0, 3.0), (4.0, 6.0)])
    trial.sample(Sample(time.monotonic() - 10, usage(1), None, None, None))
    told = int(texts[0].splitlines()[0].split()[-1]) / 1000
    assert abs(told - (time.time() - 10)) < 1


def test_labels_are_escaped() -> None:
    assert line("m", {"a": 'say "\\"\n'}, 1, 2) == 'm{a="say \\"\\\\\\"\\n"} 1 2\n'


def test_k6_is_told_where_to_write_and_who_it_is() -> None:
    planned = PLANNED.model_copy(update={"server": "spring-stomp/virtual", "arm": "base"})
    trial = StreamedTrial(Endpoint.parse("http://store:8428/vm/"), print, RECORD, planned, NO_THRESHOLDS)
    assert trial.k6_arguments == [
        "--out=experimental-prometheus-rw",
        "--tag=run=r-1",
        "--tag=server=spring-stomp/virtual (base)",
    ]
    assert trial.k6_environment["K6_PROMETHEUS_RW_SERVER_URL"] == "http://store:8428/vm/api/v1/write"
    assert trial.k6_environment["K6_PROMETHEUS_RW_PUSH_INTERVAL"] == "1s"


def test_a_stream_waits_for_nothing_but_its_last_request(victoria: Store) -> None:
    victoria.status = None
    notes: list[str] = []
    began = time.monotonic()
    with Stream(victoria.url, RECORD, NO_THRESHOLDS, notes.append).trial(PLANNED) as feed:
        feed.begin([(1.0, 3.0), (4.0, 6.0)])
        for _ in range(1000):
            feed.sample(Sample(time.monotonic(), usage(1), None, None, None))
        sampled = time.monotonic()
    assert sampled - began < 100 * PATIENCE_SECONDS, "a request for each sample would take ten times as long"
    assert time.monotonic() - sampled < 20 * PATIENCE_SECONDS


def test_a_stream_that_nobody_wants_gives_k6_nothing() -> None:
    with open_stream(None, RECORD, NO_THRESHOLDS, print).trial(PLANNED) as feed:
        assert (list(feed.k6_arguments), dict(feed.k6_environment)) == ([], {})


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8428", "ftp://x", "http://", "http://x:port", "http://u:p@x", "http://x/?a=1", ""]
)
def test_what_is_no_base_url_is_refused(url: str) -> None:
    with pytest.raises(UserError, match="--live: expected the URL of a VictoriaMetrics"):
        Endpoint.parse(url)


def test_live_alone_means_the_stack_of_this_machine() -> None:
    assert with_resume_value(["run", "--live"]) == ["run", "--live", LIVE_URL]
    assert with_resume_value(["run", "--live", "--json"]) == ["run", "--live", LIVE_URL, "--json"]
    assert with_resume_value(["run", "--live", "http://x:1", "--json"]) == ["run", "--live", "http://x:1", "--json"]


@pytest.mark.early  # 17 s, in 10 of which k6 waits for a store that does not answer
@pytest.mark.parametrize("status", [204, None])
def test_the_real_generator_streams_and_no_store_can_hold_it_up(
    victoria: Store, tmp_path: Path, status: int | None
) -> None:
    project = CHECKOUT
    suite = find_suite(project.scenarios, "whiteboard")
    load = suite.load("smoke", {})
    chosen = select_servers(project, suite, ["node-ws"], print, DriverChoice("process"))
    _, built = build_all(project, chosen, print)
    split = split_cpus(physical_cores(os.sched_getaffinity(0)))
    generator = Generator(
        build_generator(project, print), project.generator, load.scenario, split.generator, tmp_path, 1
    )
    notes: list[str] = []
    record = make_record([], id="r-1", schedule=load.schedule)
    stream = Stream(victoria.url, record, NO_THRESHOLDS, notes.append)
    bench = Bench(chosen.driver, generator, load, read_environment(split, "process"), stream)
    victoria.status = status
    planned = PlannedTrial(server="node-ws", round=0, order=0, seed=1)
    prepared = built[0]
    assert isinstance(prepared.result, Build)
    watch = Notebook()
    watch.trial(planned, 1, record, 10.0)
    trial = run_trial(bench, planned, prepared.server, prepared.result, watch)
    assert trial.failure is None, trial.failure
    assert trial.stages[0].receipts.lost == 0
    assert trial.resources
    assert len(victoria.posts["/api/v1/write"]) >= (5 if status else 1)
    assert len(notes) == (0 if status else 1)
