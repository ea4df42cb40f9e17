"""Running the generator: start k6 on the generator's CPUs, pass on its events, and read its load report.

`load_report` defines the numbers. The caller gets every second and decides when to sample the server.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import selectors
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from pushbench.catalog.declaration import Declaration
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import tail
from pushbench.foundation.model import Document
from pushbench.generator.events import Second, Started, parse_event, together, window_end
from pushbench.generator.merging import merge
from pushbench.generator.reports import parse_report
from pushbench.machine import processes
from pushbench.machine.processes import Program
from pushbench.machine.sampling import Sample
from pushbench.records.load_report import Kind, LoadReport
from pushbench.records.record import Finding, Schedule

MARGIN_SECONDS = 30.0  # for k6 to start, to compile the scenario and to write its report, on a busy machine
TOGETHER_SECONDS = 3.0  # for several k6 to start on CPUs that they share, before the schedule of all begins
INTERRUPT_SECONDS = 15.0  # for k6 to write its report after SIGINT
INTERRUPTED = 105  # k6's exit code after SIGINT: https://github.com/grafana/k6/blob/master/errext/exitcodes/codes.go
LOOK_SECONDS = 0.2


class LoadFailed(Exception):
    """The generator did not play the load or did not report it, so the server was not measured."""


class LatencyLimit(Document):
    """A limit for a kind of latency."""

    latency: Kind
    us: int


class LoadPlan(Document):
    """The request to the scenario; k6 reads it from the file that PUSH_LOAD names."""

    url: str
    authorities: str = ""
    """a file with the only certificates that are trusted over TLS; empty: those of the system"""
    protocol: str
    declaration: Declaration | None = None
    """the protocol, if the server's files declare it"""
    seed: int
    parameters: dict[str, str | int | float | bool]
    schedule: Schedule
    generators: int = 1
    """processes that share the clients"""
    sources: list[str] = []
    """addresses to connect from, used in turn; empty: the kernel's choice"""
    latencies: dict[Kind, str] = {}
    """the suite's names for them, for the live view"""
    headline: Kind | None = None
    """the latency in the timeline"""
    limits: list[LatencyLimit] = []
    """every second counts the latencies that exceed each of them"""
    spin_us: int = 0
    """how long an event loop spins before something is due, instead of sleeping until then"""
    begin_monotonic_us: int = 0
    """when the schedule begins, for generators that begin together; 0: as soon as k6 is ready"""


@dataclass(frozen=True)
class Generator:
    """A built k6 and its CPUs; `processes` of it split the clients by execution segments."""

    binary: Path
    folder: Path
    """of the k6 module; paths of scenarios are relative to it"""
    scenario: Path
    cpus: Sequence[int]
    workspace: Path
    """for load plans, load reports and logs"""
    processes: int = 1
    sources: Sequence[str] = ()
    """addresses to connect from; none: the kernel's choice"""
    arguments: Sequence[str] = ()
    """additional ones for k6, like the environment"""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Account:
    """What is known of a load elsewhere, beside its report."""

    samples: list[Sample] = field(default_factory=list)
    """of the server and its machine, like those of a sampler on this machine"""
    reasons: list[Finding] = field(default_factory=list)
    """why the trial is invalid"""
    warnings: list[Finding] = field(default_factory=list)


class Load(Protocol):
    """A load in progress, wherever it is played."""

    @property
    def pids(self) -> Sequence[int]:
        """The generators on this machine."""
        ...

    @property
    def account(self) -> Account | None:
        """The account of a load that was played elsewhere, after its end; None for a load on this machine."""
        ...

    def events(self) -> Iterator[Started | Second | None]: ...

    def end_of_stage(self, moment: float) -> float: ...

    def interrupt(self) -> None: ...

    def report(self) -> LoadReport: ...


Player = Callable[[Generator, LoadPlan], AbstractContextManager[Load]]
"""starts a load, and stops it at the end of the block"""


def planned_seconds(schedule: Schedule) -> float:
    """The longest time that the load can take, without start and margin."""
    stages = sum(stage.ramp_seconds + stage.settle_seconds + stage.steady_seconds for stage in schedule.stages)
    return schedule.warmup_seconds + stages + schedule.drain_seconds


def segments(count: int) -> list[list[str]]:
    """k6's flags for each of `count` generators: equal parts of one sequence."""
    if count == 1:
        return [[]]
    borders = ["0", *(f"{index}/{count}" for index in range(1, count)), "1"]
    sequence = ["--execution-segment-sequence", ",".join(borders)]
    return [["--execution-segment", f"{begin}:{end}", *sequence] for begin, end in itertools.pairwise(borders)]


@dataclass
class _Player:
    """One generator process and its events so far."""

    program: Program
    events: int
    report: Path
    buffer: bytes = b""
    started: Started | None = None
    second: Second | None = None


class RunningLoad:
    """A load in progress."""

    account = None

    def __init__(self, players: list[_Player], plan: LoadPlan) -> None:
        self._players = players
        self._deadline = time.monotonic() + planned_seconds(plan.schedule) + MARGIN_SECONDS
        self._interrupted = False

    @property
    def pids(self) -> list[int]:
        return [player.program.pid for player in self._players]

    def events(self) -> Iterator[Started | Second | None]:
        """The events of the generators until all have ended, with None at intervals for the caller's other work.

        Raises LoadFailed if one fails or the load takes longer than planned.
        """
        told_start = False
        with selectors.DefaultSelector() as selector:
            for player in self._players:
                selector.register(player.events, selectors.EVENT_READ, player)
            while selector.get_map():
                for key, _ in selector.select(LOOK_SECONDS):
                    player = key.data
                    content = os.read(player.events, 1 << 16)
                    if not content:
                        selector.unregister(player.events)
                    for event in _complete_lines(player, content):
                        if isinstance(event, Second):
                            player.second = event
                            yield Second.total(each.second for each in self._players if each.second)
                        else:
                            player.started = event
                    if not told_start and all(each.started for each in self._players):
                        told_start = True
                        yield together([each.started for each in self._players if each.started])
                self._require_in_time()
                yield None
        self._await_ends()

    def end_of_stage(self, moment: float) -> float:
        """When all generators have measured the stage of `moment` to its end; `moment` itself outside all stages."""
        starts = [player.started for player in self._players if player.started]
        return moment if len(starts) < len(self._players) else window_end(starts, moment)

    def interrupt(self) -> None:
        """Let the generators end now and report their finished stages. A second SIGINT would make k6 end without a
        report, so it gets only one.
        """
        if self._interrupted:
            return
        self._interrupted = True
        self._deadline = min(self._deadline, time.monotonic() + INTERRUPT_SECONDS)
        for player in self._players:
            player.program.send(signal.SIGINT)

    def report(self) -> LoadReport:
        """The load report, after `events` has ended. Raises LoadFailed if it cannot be read."""
        try:
            return merge([read_report(player.report) for player in self._players])
        except ValueError as error:
            raise LoadFailed(str(error)) from None

    def stop(self) -> None:
        for player in self._players:
            player.program.stop(0)
            os.close(player.events)

    def _require_in_time(self) -> None:
        if time.monotonic() > self._deadline:
            raise LoadFailed(f"the generator did not end within the planned time; {self._last_words()}")

    def _await_ends(self) -> None:
        """Wait for the end of all generators, which is near because their pipes are closed."""
        for player in self._players:
            code = player.program.wait(max(0.0, self._deadline - time.monotonic()))
            if code is None:
                self._require_in_time()
            elif code != 0 and not (self._interrupted and code == INTERRUPTED):
                raise LoadFailed(f"the generator (k6) ended with {processes.ending(code)}; {self._last_words()}")

    def _last_words(self) -> str:
        lines = [line for player in self._players for line in tail(player.program.log).splitlines() if line.strip()]
        return f"its last output: {' | '.join(lines[-3:])}" if lines else "it printed nothing"


@contextlib.contextmanager
def playing(generator: Generator, plan: LoadPlan) -> Iterator[RunningLoad]:
    """Start the load; stop the generators at the end of the block in any case."""
    shutil.rmtree(generator.workspace, ignore_errors=True)
    generator.workspace.mkdir(parents=True)
    plan_file = generator.workspace / "load.json"
    begin = int((time.monotonic() + TOGETHER_SECONDS) * 1e6) if generator.processes > 1 else 0
    means = {"generators": generator.processes, "sources": list(generator.sources), "begin_monotonic_us": begin}
    whole = plan.model_copy(update=means)
    plan_file.write_text(whole.model_dump_json(by_alias=True))
    players: list[_Player] = []
    load = RunningLoad(players, plan)
    try:
        for number, flags in enumerate(segments(generator.processes)):
            players.append(_start(generator, plan_file, number, flags))
        yield load
    finally:
        load.stop()


def read_report(path: Path) -> LoadReport:
    """Read a report. Raises ValueError, in one line, if it is missing, broken or newer than this Pushbench."""
    try:
        return parse_report(path.read_text())
    except FileNotFoundError:
        raise ValueError("the generator (k6) wrote no load report") from None
    except OSError as error:
        raise ValueError(f"the load report cannot be read: {error}") from None


def _start(generator: Generator, plan: Path, number: int, flags: list[str]) -> _Player:
    read_end, write_end = os.pipe()
    report = generator.workspace / f"report-{number}.json"
    # Without its REST API: a second generator of a machine could not use the same port.
    command = [str(generator.binary), "run", "--quiet", "--no-usage-report", "--address", "", *flags]
    try:
        program = processes.start(
            [*command, *generator.arguments, os.path.relpath(generator.scenario, generator.folder)],
            folder=generator.folder,
            environment=processes.clean_environment(
                generator.environment,
                {"PUSH_LOAD": str(plan), "PUSH_REPORT": str(report), "PUSH_EVENTS_FD": str(write_end)},
            ),
            cpus=generator.cpus,
            log=generator.workspace / f"k6-{number}.log",
            pass_fds=[write_end],
        )
    except OSError as error:
        os.close(read_end)
        raise UserError(f"the generator cannot be started: {error.strerror}", where=str(generator.binary)) from None
    finally:
        os.close(write_end)
    return _Player(program, read_end, report)


def _complete_lines(player: _Player, content: bytes) -> Iterator[Started | Second]:
    """The events of the lines that `content` completes."""
    *lines, player.buffer = (player.buffer + content).split(b"\n")
    for line in lines:
        try:
            event = parse_event(json.loads(line))
        except (ValueError, KeyError, TypeError):
            raise LoadFailed(f"the generator (k6) wrote a line that is not an event: {line[:200]!r}") from None
        if event:
            yield event
