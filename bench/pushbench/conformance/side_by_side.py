"""Verifies several servers at the same time, each in a process of its own: lanes.

Threads would share one interpreter, and a rule about milliseconds would see the delays of another. Results are returned
in the order of the servers.

A server that ends waits some seconds for a client that does not answer its close. Meanwhile the next server of its lane
begins, in a second process. A single lane has no second process, because its servers may all have the same port.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
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
"""Time for a worker to end its server and that server's services, 5 s each, before it is killed."""

SubjectIn = Callable[[int], Subject]
"""The server as a subject of verification, from the number that gives the worker its CPUs and logs."""


@dataclass(frozen=True)
class Watch:
    """The callbacks for events, each with the number of the server."""

    began: Callable[[int], None]
    checked: Callable[[int, RuleResult], None]
    found: Callable[[int, Conformance], None]
    postponed: Callable[[int, Conformance], None] = lambda *_: None
    """Rules that failed in parallel with others are to be checked again."""


class Ends:
    """All that remains of the check is the server's exit."""


Said = RuleResult | Ends | Conformance | UserError
"""A worker's messages about a server: each result as it arrives and then all of them, or why there are none."""


@dataclass(frozen=True)
class Worker:
    lane: int
    process: BaseProcess
    line: Connection[int, Said]
    """receives the numbers of servers"""

    def hear(self) -> RuleResult | Ends | Conformance:
        """The worker's next message. Raises the worker's UserError."""
        try:
            said = self.line.recv()
        except EOFError:
            self.process.join()
            raise RuntimeError(f"a verification ended with {ending(self.process.exitcode or 0)}") from None
        if isinstance(said, UserError):
            raise said
        return said


def verify_each(servers: Sequence[SubjectIn], lanes: int, watch: Watch, only: Sequence[str] = ()) -> list[Conformance]:
    """Verify the servers in order, as many at a time as there are lanes.

    An interrupted verification ends its servers before it raises.
    """
    pending, found = deque(range(len(servers))), dict[int, Conformance]()
    works = [(lane, partial(_work, servers, place, only)) for lane, place in _places(min(lanes, len(servers)))]
    with _running(works) as idle:
        busy: dict[Connection[int, Said], tuple[int, Worker]] = {}
        checking: set[Worker] = set()
        while pending or busy:
            while pending and (free := _free(idle, {worker.lane for worker in checking})):
                server = pending.popleft()
                idle.remove(free)
                checking.add(free)
                busy[free.line] = server, free
                watch.began(server)
                free.line.send(server)
            for line in wait(list(busy)):
                assert isinstance(line, Connection)
                server, worker = busy[line]
                match worker.hear():
                    case RuleResult() as result:
                        watch.checked(server, result)
                    case Ends():
                        checking.discard(worker)
                    case Conformance() as whole:
                        found[server] = whole
                        watch.found(server, whole)
                        checking.discard(worker)
                        idle.append(worker)
                        del busy[line]
    return [found[number] for number in range(len(servers))]


def _places(lanes: int) -> list[tuple[int, int]]:
    """The lane of each worker, and the number for its CPUs and logs: in a lane, both numbers are even, or both odd."""
    first = [(lane, lane) for lane in range(lanes)]
    return first + [(lane, lane + lanes + lanes % 2) for lane in range(lanes)] if lanes > 1 else first


def _free(idle: Sequence[Worker], lanes: Set[int]) -> Worker | None:
    """An idle worker in none of these lanes."""
    return next((worker for worker in idle if worker.lane not in lanes), None)


def _work(servers: Sequence[SubjectIn], place: int, only: Sequence[str], line: Connection[Said, int]) -> None:
    """Verify servers until SIGTERM, which the parent's end also sends."""
    with contextlib.suppress(KeyboardInterrupt, EOFError, BrokenPipeError):
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        signal.signal(signal.SIGINT, _leave_it_to_the_parent)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        while True:
            subject = servers[line.recv()](place)
            try:
                line.send(verify(subject, only, line.send, lambda: line.send(Ends())))
            except ServerFailed as failed:
                line.send(unverified(subject.server, subject.suite, subject.protocol, failed))
            except UserError as error:
                line.send(error)


def _leave_it_to_the_parent(*_: object) -> None:
    """Ctrl-C reaches every process of the terminal; a second signal would interrupt the cleanup after the first."""


def _with_one_end(
    work: Callable[[Connection[Said, int]], None],
    line: Connection[Said, int],
    parents: Sequence[Connection[int, Said]],
) -> None:
    """Work without the parent's ends, which the fork copied: the line ends when the parent closes its own."""
    for each in parents:
        each.close()
    work(line)


@contextlib.contextmanager
def _running(works: Sequence[tuple[int, Callable[[Connection[Said, int]], None]]]) -> Iterator[list[Worker]]:
    """Worker processes in their lanes; they and their servers have ended when the block is left."""
    # The subjects hold open drivers, which only a fork can share. No thread is running yet.
    context = multiprocessing.get_context("fork")
    workers: list[Worker] = []
    try:
        for lane, work in works:
            ours, theirs = context.Pipe()
            parents = [ours, *(worker.line for worker in workers)]
            process = context.Process(target=_with_one_end, args=(work, theirs, parents), daemon=True)
            process.start()
            theirs.close()
            workers.append(Worker(lane, process, ours))
        yield list(workers)
    finally:
        for worker in workers:
            worker.process.terminate()
            worker.line.close()  # for a worker that began to read just before the signal
        for worker in workers:
            worker.process.join(END_SECONDS)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        end_orphans()
