"""The steps of a plan, each one `pushbench` command, with the settings of an installation. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from pydantic import Field

from pushbench.calibration.meaningless import LANGUAGES
from pushbench.calibration.report import ARMS
from pushbench.catalog.servers import Server
from pushbench.foundation.errors import UserError
from pushbench.foundation.model import Document
from pushbench.metrics.definitions import Unit
from pushbench.metrics.units import parse_quantity

Kind = Literal["run", "compare", "control", "capacity", "machine"]
"""`machine`: the server that every machine of a run measures, where there are several"""
MOST_MACHINES = 16
CONTROL_ROUNDS = 4
"""of the server that every machine measures: from four starts on a rank-sum test decides, and noise shows"""
LONGEST_VALUE = 80
"""characters of a variable's value in an error"""
SEARCH_SECONDS = 300.0
"""of a server's search for its capacity, all starts together"""
PART_MOST = 1 / 4
"""of a job's time, where it is bounded"""
ALWAYS = ("rebuilt", "environment")
NIGHTLY = ("rebuilt", "comment", "environment", "unused")
"""what the arms of a night's control differ by, in turn; `ALWAYS` for sources that cannot be changed"""


class Step(Document):
    """One `pushbench` command."""

    kind: Kind
    arguments: list[str] = Field(description="of `./pushbench`, without --out")
    servers: list[str]
    why: str = Field(description="a sentence")

    def argument(self, option: str) -> str:
        """The value of an option that the command has."""
        return self.arguments[self.arguments.index(option) + 1]


@dataclass(frozen=True)
class Settings:
    """The settings of an installation, from repository variables."""

    push_profile: str = "full"
    check_profile: str = "quick"
    """of servers that have nothing to be compared with, and of those for which a push has no time left"""
    compare_profile: str = "compare"
    max_time: str = "10m"
    driver: str = "auto"
    job_time: str = ""
    """of a push or night; empty: it takes as long as it takes"""
    capacity_time: str = "30m"
    """of a night, for the capacities of some servers; 0: of none"""
    doubt_time: str = "20m"
    """of a push, for comparing servers that its history cannot tell about; 0: of none"""
    shards: str = "1"
    """machines that share the servers of a run"""

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Settings:
        """From PUSHBENCH_PUSH_PROFILE and so on; what is unset or empty is as here. Raises UserError."""
        names = (
            "push_profile",
            "check_profile",
            "compare_profile",
            "max_time",
            "driver",
            "job_time",
            "capacity_time",
            "doubt_time",
            "shards",
        )
        given = {name: environment.get(f"PUSHBENCH_{name.upper()}", "") for name in names}
        found = cls(**{name: value for name, value in given.items() if value})
        _ = found.job_seconds, found.capacity_seconds, found.doubt_seconds, found.machines
        return found

    @property
    def job_seconds(self) -> float | None:
        """Of a push or night; None where there is no bound. Raises UserError."""
        return _seconds("PUSHBENCH_JOB_TIME", self.job_time) if self.job_time else None

    @property
    def capacity_seconds(self) -> float:
        """Of a night's searches, a quarter of the job at most. Raises UserError."""
        return self._part("PUSHBENCH_CAPACITY_TIME", self.capacity_time)

    @property
    def doubt_seconds(self) -> float:
        """Of a push's comparisons, a quarter of the job at most. Raises UserError."""
        return self._part("PUSHBENCH_DOUBT_TIME", self.doubt_time)

    def _part(self, name: str, value: str) -> float:
        asked = 0.0 if value == "0" else _seconds(name, value)
        return asked if self.job_seconds is None else min(asked, self.job_seconds * PART_MOST)

    @property
    def machines(self) -> int:
        """That share the servers of a run. Raises UserError."""
        number = int(self.shards) if self.shards.isascii() and self.shards.isdigit() and len(self.shards) < 4 else 0
        if not 1 <= number <= MOST_MACHINES:
            said = f"PUSHBENCH_SHARDS is {self.shards[:LONGEST_VALUE]!r}, expected a number from 1 to {MOST_MACHINES}"
            raise UserError(said)
        return number

    @property
    def max_seconds(self) -> float:
        """Of each server of a comparison. Raises UserError."""
        return _seconds("PUSHBENCH_MAX_TIME", self.max_time)


def run(servers: Sequence[Server], profile: str, why: str, *, named: bool = True) -> Iterator[Step]:
    """A run of each suite; the servers are not `named` where they are all that there are."""
    for suite, own in by_suite(servers).items():
        ids = [server.id for server in own]
        which = ["--servers", ",".join(ids)] if named else []
        arguments = ["run", "--suite", suite, "--profile", profile, *which]
        yield Step(kind="run", arguments=arguments, servers=ids, why=why)


def control(catalog: Sequence[Server], settings: Settings, day: date) -> Step:
    """A server against itself: whatever it finds is the judge's mistake. Another one each night.

    Processes are built apart for it, at another path or with a change that means nothing, which is another one when all
    servers had their turn. Of an image there is one for each commit.
    """
    turns, place = divmod(day.toordinal(), len(catalog))
    server = catalog[place].id
    changes = NIGHTLY if _has_sources(catalog[place]) else ALWAYS
    apart = ["--fault", changes[turns % len(changes)]] if settings.driver == "process" else []
    code = f"the same code, built apart ({ARMS[apart[-1]]})" if apart else "itself"
    why = f"against {code}: what it finds is a false alarm; every server has its turn within {len(catalog)} nights"
    load = ["--profile", settings.compare_profile, "--max-time", settings.max_time]
    arguments = ["calibrate", "measure", *apart, "--servers", server, *load]
    return Step(kind="control", arguments=arguments, servers=[server], why=why)


def _has_sources(server: Server) -> bool:
    """Whether its sources are in its folder, in a language that the changes know."""
    return server.spec.language in LANGUAGES and server.described is None


def capacities(servers: Sequence[Server], settings: Settings, day: date) -> Iterator[Step]:
    """Searches for what some of the servers carry: as many as the night has time for, and others each night."""
    number = min(int(settings.capacity_seconds // SEARCH_SECONDS), len(servers))
    begin = day.toordinal() * number
    turn = {servers[(begin + each) % len(servers)].id for each in range(number)}
    nights = -(-len(servers) // number) if number else 0
    why = f"what it carries; every server has its turn within {nights} nights"
    for suite, own in by_suite([server for server in servers if server.id in turn]).items():
        ids = [server.id for server in own]
        arguments = ["capacity", "--suite", suite, "--servers", ",".join(ids), "--max-time", f"{SEARCH_SECONDS:g}s"]
        yield Step(kind="capacity", arguments=arguments, servers=ids, why=why)


def by_suite(servers: Sequence[Server]) -> dict[str, list[Server]]:
    found: dict[str, list[Server]] = {}
    for server in servers:
        found.setdefault(server.spec.suite, []).append(server)
    return found


def _seconds(name: str, value: str) -> float:
    """The duration that a variable has. Raises UserError."""
    try:
        seconds = parse_quantity(value, Unit.SECONDS)
    except UserError:
        seconds = 0.0
    if seconds <= 0:
        raise UserError(f"{name} is {value[:LONGEST_VALUE]!r}, expected a duration such as 5h or 10m")
    return seconds
