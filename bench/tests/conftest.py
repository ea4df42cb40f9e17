from __future__ import annotations

import gc
import importlib
import os
import signal
import tempfile
from collections.abc import Generator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pushbench.foundation.files import locked
from pushbench.machine import sampling
from pushbench.machine.disturbance import Machine, Since, read_machine
from tests import disturbed
from tests.dealing import dealt


def pytest_configure() -> None:
    """Restore the default action of SIGINT for programs that tests interrupt. A shell's background job ignores SIGINT,
    and so do all its child processes."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Import without garbage collection: imports leave no garbage, and the search takes an eighth of each start."""
    gc.disable()
    try:
        import_own_share(session.config)
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def import_own_share(config: pytest.Config) -> None:
    """Import the modules that no other worker imports first.

    pytest compiles each test module once and caches the result in a file. Compiling takes longer than the rest of a
    worker's start. Workers that began at the same module would each compile all of them.
    """
    if (worker := os.environ.get("PYTEST_XDIST_WORKER")) and config.args_source is config.ArgsSource.TESTPATHS:
        every = sorted(Path(__file__).parent.rglob("test_*.py"))
        for file in every[int(worker.removeprefix("gw")) :: int(os.environ["PYTEST_XDIST_WORKER_COUNT"])]:
            importlib.import_module(".".join(file.relative_to(config.rootpath).with_suffix("").parts))


@pytest.hookimpl(trylast=True)  # after pytest has removed the tests that `-m` excludes
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    of_kind: dict[str, list[pytest.Item]] = {"early": [], "slow": [], "quick": []}
    for item in items:
        of_kind[next((mark for mark in ("early", "slow") if item.get_closest_marker(mark)), "quick")].append(item)
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = dealt(of_kind["early"], of_kind["slow"], of_kind["quick"], workers)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool:
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in disturbed.run(item, nextitem):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--write-failed", metavar="FILE", help="write the names of failed tests, one a line")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if file := terminalreporter.config.getoption("write_failed"):
        failed = [*terminalreporter.getreports("failed"), *terminalreporter.getreports("error")]
        Path(file).write_text("".join(f"{name}\n" for name in dict.fromkeys(report.nodeid for report in failed)))
    reports = [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]
    if lines := disturbed.told(reports):
        terminalreporter.section("run again")
        for line in lines:
            terminalreporter.line(line)


@pytest.fixture(autouse=True)
def engine_to_itself(request: pytest.FixtureRequest) -> Iterator[None]:
    """No two tests of the container engine run at the same time, not even from different checkouts."""
    if not request.node.get_closest_marker("engine"):
        yield
        return
    with locked(Path(tempfile.gettempdir(), f"pushbench-tests-engine-{os.getuid()}.lock"), on_wait=lambda: None):
        yield


@pytest.fixture(autouse=True)
def undisturbed_machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide disturbances by the hypervisor and by other tests, so that runs do not depend on them. Only measurements
    see the real machine."""
    if request.node.get_closest_marker("measurement"):
        return

    def calm(*arguments: Any) -> Machine:
        seen = read_machine(*arguments)
        seen = replace(seen, steal_seconds=0.0, taken_seconds=0.0, memory_threads={})
        return replace(seen, throttled=0, swapped_bytes=0, clock_offset_seconds=0.0)

    monkeypatch.setattr(sampling, "read_machine", calm)
    monkeypatch.setattr(Since, "stolen_share", lambda _: 0.0)
