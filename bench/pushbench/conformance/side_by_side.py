"""Verifies several servers at the same time, each in a process of its own: lanes.

Threads would share one interpreter, and a rule about milliseconds would see the waits of another. A lane has CPUs of
its own for its server. What lanes find comes back in the order in which it was asked for.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from pushbench.catalog.failures import ServerFailed
from pushbench.conformance.result import Conformance, RuleResult
from pushbench.conformance.target import Subject
from pushbench.conformance.verification import unverified, verify
from pushbench.foundation.errors import UserError
from pushbench.machine.ownership import end_orphans
from pushbench.machine.processes import ending

PR_SET_PDEATHSIG = 1  # linux/prctl.h
END_SECONDS = 15.0
"""How long a lane may take to end its server and that server's services, 5 s each, before it is killed."""

SubjectIn = Callable[[int], Subject]
"""The server as what is verified in a lane, by the number of the lane."""


@dataclass(frozen=True)
class Watch:
    """Who hears what happens, each time by the number of the server."""

    began: Callable[[int], None]
    checked: Callable[[int, RuleResult], None]
    found: Callable[[int, Conformance], None]


Said = RuleResult | Conformance | UserError
"""What a lane says of its server: each result as soon as it is there and then the whole, or why that cannot be had."""


@dataclass(frozen=True)
class Lane:
    process: BaseProcess
    line: Connection[int, Said]
    """takes the numbers of servers"""

    def hear(self) -> RuleResult | Conformance:
        """Raises the lane's UserError."""
        try:
            said = self.line.recv()
        except EOFError:
            self.process.join()
            raise RuntimeError(f"a verification ended with {ending(self.process.exitcode or 0)}") from None
        if isinstance(said, UserError):
            raise said
        return said


def verify_each(servers: Sequence[SubjectIn], lanes: int, watch: Watch, only: Sequence[str] = ()) -> list[Conformance]:
    """Verify the servers, as many at a time as there are lanes, beginning with the first.

    An interrupted verification ends its servers before it raises.
    """
    pending, found = deque(range(len(servers))), dict[int, Conformance]()
    with _running([partial(_work, servers, number, only) for number in range(min(lanes, len(servers)))]) as idle:
        busy: dict[Connection[int, Said], tuple[int, Lane]] = {}
        while pending or busy:
            while pending and idle:
                lane, server = idle.pop(), pending.popleft()
                busy[lane.line] = server, lane
                watch.began(server)
                lane.line.send(server)
            for line in wait(list(busy)):
                assert isinstance(line, Connection)
                server, lane = busy[line]
                said = lane.hear()
                if isinstance(said, RuleResult):
                    watch.checked(server, said)
                else:
                    found[server] = said
                    watch.found(server, said)
                    idle.append(lane)
                    del busy[line]
    return [found[number] for number in range(len(servers))]


def _work(servers: Sequence[SubjectIn], lane: int, only: Sequence[str], line: Connection[Said, int]) -> None:
    """What a lane does until SIGTERM, which the end of its parent sends, too."""
    with contextlib.suppress(KeyboardInterrupt, EOFError, BrokenPipeError):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGINT, _leave_it_to_the_parent)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        while True:
            subject = servers[line.recv()](lane)
            try:
                line.send(verify(subject, only, line.send))
            except ServerFailed as failed:
                line.send(unverified(subject.server, subject.suite, subject.protocol, failed))
            except UserError as error:
                line.send(error)


def _leave_it_to_the_parent(*_: object) -> None:
    """Ctrl-C reaches every process of the terminal; a second signal would break off the end that the first began."""


@contextlib.contextmanager
def _running(works: Sequence[Callable[[Connection[Said, int]], None]]) -> Iterator[list[Lane]]:
    """Processes that do this; they and their servers have ended when the block is left."""
    # The subjects hold open drivers, which only a fork can share. No thread runs yet.
    context = multiprocessing.get_context("fork")
    lanes: list[Lane] = []
    try:
        for work in works:
            ours, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs,), daemon=True)
            process.start()
            theirs.close()
            lanes.append(Lane(process, ours))
        yield list(lanes)
    finally:
        for lane in lanes:
            lane.process.terminate()
        for lane in lanes:
            lane.process.join(END_SECONDS)
            if lane.process.is_alive():
                lane.process.kill()
                lane.process.join()
        end_orphans()
