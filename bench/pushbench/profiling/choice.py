"""The choice of a server's profiler: its runtime is the program of its command, or the toolchain that compiles it."""

from __future__ import annotations

from pathlib import Path

from pushbench.catalog.servers import Server
from pushbench.profiling.javascript import CpuProf
from pushbench.profiling.jvm import FlightRecorder, jdk_tool
from pushbench.profiling.native import Perf, perf_lacks
from pushbench.profiling.profile import Unprofiled
from pushbench.profiling.profilers import Place, Profiler
from pushbench.profiling.python import PySpy, py_spy_lacks

COMPILED = ("go", "cargo")


def profiler_of(server: Server, place: Place) -> Profiler:
    """The profiler for one start of the server. Raises Unprofiled with what this machine lacks for it."""
    process = server.process
    program = Path(process.start[0]).name
    if program in ("node", "bun"):
        return CpuProf(place, program)
    if program == "java":
        jdk_tool(place, "jcmd"), jdk_tool(place, "jfr")
        return FlightRecorder(place)
    if program.startswith("python"):
        return _unless(py_spy_lacks(), PySpy(place))
    compiled = next((each for each in COMPILED if each in process.toolchains), None)
    if compiled:
        return _unless(perf_lacks(), Perf(place, compiled, server.folder / process.start[0]))
    raise Unprofiled(f"there is no profiler for `{program}`")


def _unless(lack: str | None, profiler: Profiler) -> Profiler:
    if lack:
        raise Unprofiled(lack)
    return profiler
