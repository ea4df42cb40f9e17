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
"""`machine`: the server that every machine of a run measures, if there are several"""
MOST_MACHINES = 16
CONTROL_ROUNDS = 4
"""of the server that every machine measures: with at least four starts, a rank-sum test can decide, and noise shows"""
LONGEST_VALUE = 80
"""characters of a variable's value in an error"""
SEARCH_SECONDS = 300.0
"""of a server's search for its capacity, all starts together"""
PART_MOST = 1 / 4
"""of a job's time, if it is limited"""
ALWAYS = ("rebuilt", "environment")
NIGHTLY = ("rebuilt", "comment", "environment", "unused")
"""the differences between the arms of a night's control, in rotation; `ALWAYS` for sources that cannot be changed"""


class Step(Document):
    """One `pushbench` command."""

    kind: Kind
    arguments: list[str] = Field(description="arguments of `./pushbench`, without --out")
    servers: list[str]
    why: str = Field(description="reason for the step, as a sentence")

    def argument(self, option: str) -> str:
        """The value of an option that the command has."""
        return self.arguments[self.arguments.index(option) + 1]


@dataclass(frozen=True)
class Settings:
    """The settings of an installation, from repository variables."""

    push_profile: str = "full"
    check_profile: str = "quick"
    """for servers without a comparison, and for servers that a push has no time left for"""
    compare_profile: str = "compare"
    max_time: str = "10m"
    driver: str = "auto"
    job_time: str = ""
    """of a push or night; empty: unlimited"""
    capacity_time: str = "30m"
    """of a night, for the capacities of some servers; 0: none"""
    doubt_time: str = "20m"
    """of a push, for comparing servers that its history cannot decide about; 0: none"""
    shards: str = "1"
    """machines that share the servers of a run"""

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> Settings:
        """The settings from PUSHBENCH_PUSH_PROFILE and so on; unset or empty ones are defaults. Raises UserError."""
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
        """Time of a push or night; None if it is unlimited. Raises UserError."""
        return _seconds("PUSHBENCH_JOB_TIME", self.job_time) if self.job_time else None

    @property
    def capacity_seconds(self) -> float:
        """Time of a night's searches, at most a quarter of the job. Raises UserError."""
        return self._part("PUSHBENCH_CAPACITY_TIME", self.capacity_time)

    @property
    def doubt_seconds(self) -> float:
        """Time of a push's comparisons, at most a quarter of the job. Raises UserError."""
        return self._part("PUSHBENCH_DOUBT_TIME", self.doubt_time)

    def _part(self, name: str, value: str) -> float:
        asked = 0.0 if value == "0" else _seconds(name, value)
        return asked if self.job_seconds is None else min(asked, self.job_seconds * PART_MOST)

    @property
    def machines(self) -> int:
        """The number of machines that share the servers of a run. Raises UserError."""
        number = int(self.shards) if self.shards.isascii() and self.shards.isdigit() and len(self.shards) < 4 else 0
        if not 1 <= number <= MOST_MACHINES:
            said = f"PUSHBENCH_SHARDS is {self.shards[:LONGEST_VALUE]!r}, expected a number from 1 to {MOST_MACHINES}"
            raise UserError(said)
        return number

    @property
    def max_seconds(self) -> float:
        """Time for each server of a comparison. Raises UserError."""
        return _seconds("PUSHBENCH_MAX_TIME", self.max_time)


def run(servers: Sequence[Server], profile: str, why: str, *, named: bool = True) -> Iterator[Step]:
    """A run of each suite; the servers are not `named` if they are all existing ones."""
    for suite, own in by_suite(servers).items():
        ids = [server.id for server in own]
        which = ["--servers", ",".join(ids)] if named else []
        arguments = ["run", "--suite", suite, "--profile", profile, *which]
        yield Step(kind="run", arguments=arguments, servers=ids, why=why)


def control(catalog: Sequence[Server], settings: Settings, day: date) -> Step:
    """A server against itself, where any finding is an error of the judge. Another server each night.

    For processes, the arms are built separately: at another path, or with a change that has no meaning. The change
    rotates once all servers have had their turn. An image has only one build per commit.
    """
    turns, place = divmod(day.toordinal(), len(catalog))
    server = catalog[place].id
    changes = NIGHTLY if _has_sources(catalog[place]) else ALWAYS
    apart = ["--fault", changes[turns % len(changes)]] if settings.driver == "process" else []
    code = f"the same code, built separately ({ARMS[apart[-1]]})" if apart else "itself"
    why = f"against {code}: anything it finds is a false alarm; every server gets its turn within {len(catalog)} nights"
    load = ["--profile", settings.compare_profile, "--max-time", settings.max_time]
    arguments = ["calibrate", "measure", *apart, "--servers", server, *load]
    return Step(kind="control", arguments=arguments, servers=[server], why=why)


def _has_sources(server: Server) -> bool:
    """Whether its sources are in its folder, in a language that the changes support."""
    return server.spec.language in LANGUAGES and server.described is None


def capacities(servers: Sequence[Server], settings: Settings, day: date) -> Iterator[Step]:
    """Searches for the capacities of some servers: as many as fit into the night, and others each night."""
    number = min(int(settings.capacity_seconds // SEARCH_SECONDS), len(servers))
    begin = day.toordinal() * number
    turn = {servers[(begin + each) % len(servers)].id for each in range(number)}
    nights = -(-len(servers) // number) if number else 0
    why = f"what it carries; every server gets its turn within {nights} nights"
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
    """The duration in a variable. Raises UserError."""
    try:
        seconds = parse_quantity(value, Unit.SECONDS)
    except UserError:
        seconds = 0.0
    if seconds <= 0:
        raise UserError(f"{name} is {value[:LONGEST_VALUE]!r}, expected a duration such as 5h or 10m")
    return seconds
