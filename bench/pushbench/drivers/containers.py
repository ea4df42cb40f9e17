"""The containers of a trial: they form a compose project of their own, which is always removed at the end."""

from __future__ import annotations

import contextlib
import json
import secrets
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pushbench.building.engine import Engine, EngineFailed, State
from pushbench.catalog.failures import ServerFailed
from pushbench.drivers.driver import POLL_SECONDS, STOP_SECONDS
from pushbench.foundation.files import write_atomically
from pushbench.foundation.project import Project
from pushbench.machine import processes
from pushbench.machine.cgroups import Cgroup
from pushbench.machine.lives import Lives
from pushbench.machine.processes import Exit
from pushbench.machine.procfs import read_stat

LOG_LINES = "50"
OWNER_LABEL = "pushbench.owner"


class Container:
    """A container that was started."""

    def __init__(self, engine: Engine, container: str) -> None:
        self._engine, self.id = engine, container
        self._ended: State | None = None
        self._lives: Lives | None = None
        self._absent = False
        self.refresh()

    def refresh(self) -> None:
        """Read the container's state and accounts. Raises ServerFailed if its accounts cannot be read."""
        self.state = self._engine.state(self.id)
        stat = read_stat(self.state.pid) if self.state.pid else None
        self._start_ticks = stat.start_ticks if stat else None
        self._ended = None if self.state.running else self.state
        cgroup = Cgroup.of_container(self.id)
        if self.state.running and cgroup is None:
            raise ServerFailed("start", "the control group of its container cannot be read on this machine")
        if cgroup and self._lives:
            self._lives.begin(cgroup)
        elif cgroup:
            self._lives = Lives(cgroup)

    @property
    def tree(self) -> Lives:
        if self._lives is None:
            raise ServerFailed("start", "its container has ended")
        return self._lives

    @property
    def ended(self) -> State | None:
        """How the container ended; None while it runs. This reads /proc and starts no program."""
        if self._ended is None:
            stat = read_stat(self.state.pid)
            if stat is None or stat.state == "Z" or stat.start_ticks != self._start_ticks:
                self._ended = self._final_state()
        return self._ended

    @property
    def ended_by_itself(self) -> State | None:
        """As `ended`, and None during an `absence`."""
        return None if self._absent else self.ended

    def _final_state(self) -> State:
        """The final state, once the engine has noticed the end of the process."""
        deadline = time.monotonic() + 5
        while (state := self._engine.state(self.id)).running and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return state

    def kill(self, how: signal.Signals) -> None:
        with contextlib.suppress(EngineFailed):  # it has just ended by itself
            self._engine.run("container", "kill", "--signal", how.name, self.id)

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        """Kill the container, and start it again at the end of the block."""
        self.tree.end()
        self.kill(signal.SIGKILL)
        self.await_end(STOP_SECONDS)
        try:
            yield
        finally:
            self._engine.run("container", "start", self.id)
            self.refresh()

    @contextlib.contextmanager
    def absence(self) -> Iterator[None]:
        """As `outage`, for a container that clients are connected to: it returns at the address that clients use.

        Raises ServerFailed if it does not.
        """
        before = self.state.address
        self._absent = True
        try:
            with self.outage():
                yield
        except EngineFailed as error:
            raise ServerFailed("load", f"the container does not start again: {error}", self.log_tail()) from None
        finally:
            self._absent = False
        if self.state.address != before:
            raise ServerFailed("load", "the address of the container has changed, so clients cannot reach it")

    def await_end(self, seconds: float) -> State | None:
        deadline = time.monotonic() + seconds
        while self.ended is None and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        return self.ended

    def terminate(self, timeout: float) -> Exit:
        """Send SIGTERM, and after `timeout` seconds SIGKILL."""
        began = time.monotonic()
        if self.ended is None:
            self.kill(signal.SIGTERM)
        state = self.await_end(timeout)
        if killed := state is None:
            self.kill(signal.SIGKILL)
            state = self.await_end(timeout)
        return Exit(state.exit_code if state else -signal.SIGKILL, time.monotonic() - began, killed)

    def log_tail(self) -> str:
        try:
            return self._engine.logs(self.id, "--tail", LOG_LINES).decode(errors="replace")
        except EngineFailed as error:
            return str(error)

    def output_bytes(self) -> int:
        try:
            return len(self._engine.logs(self.id))
        except EngineFailed as error:
            raise OSError(f"the output of the container cannot be read: {error}") from None


def ending(state: State) -> str:
    """How a container ended, in words."""
    if state.out_of_memory:
        return "out of memory: it used up the limit of its container"
    if state.exit_code > 128 + signal.SIGKILL - 1 and state.exit_code - 128 == signal.SIGKILL:
        return processes.ending(-signal.SIGKILL)
    return processes.ending(state.exit_code)


@dataclass(frozen=True)
class Composition:
    """A compose project with a name that marks it as Pushbench's."""

    engine: Engine
    name: str
    files: Sequence[str]

    def start(self, service: str) -> Container:
        self._compose("up", "--detach", "--no-deps", service)
        return self.container(service)

    def start_all(self) -> None:
        """Start every service after those that it depends on."""
        self._compose("up", "--detach")

    def container(self, service: str) -> Container:
        return Container(self.engine, self._compose("ps", "--all", "--quiet", service).strip())

    def logs(self) -> str:
        """The last lines of every service."""
        try:
            return self._compose("logs", "--no-color", "--tail", LOG_LINES)
        except EngineFailed as error:
            return str(error)

    def _compose(self, *arguments: str) -> str:
        return self.engine.compose(self.files, self.name, *arguments)

    def remove(self) -> None:
        with contextlib.suppress(EngineFailed):
            self._compose("down", "--volumes", "--remove-orphans", "--timeout", "0")


@contextlib.contextmanager
def composition(
    engine: Engine, project: Project, content: Mapping[str, object], policy: Sequence[Path] = ()
) -> Iterator[Composition]:
    """A project from the files of `policy`, overridden by `content`. Everything is removed at the end of the block."""
    name = f"pushbench-{secrets.token_hex(4)}"
    own = project.cache / "compose" / f"{name}.json"
    found = Composition(engine, name, [*map(str, policy), str(own)])
    write_atomically(own, json.dumps(content).encode())
    try:
        yield found
    finally:
        found.remove()
        own.unlink(missing_ok=True)


def cpu_list(cpus: Sequence[int]) -> str:
    """CPUs in the notation of the engine."""
    return ",".join(str(cpu) for cpu in cpus)


def as_many_files() -> dict[str, dict[str, int]]:
    """The `ulimits` of a server's container: the same number of open files as for a server that runs as a process.

    Docker's own default differs between its versions.
    """
    most = processes.most_open_files()
    return {"nofile": {"soft": most, "hard": most}}


def literally(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment in which Compose expands no dollar sign."""
    return {key: value.replace("$", "$$") for key, value in environment.items()}
