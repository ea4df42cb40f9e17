"""Profiles of the JVM, from its Flight Recorder: CPU-time samples (JEP 509), which the JVM takes of itself."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path

from pushbench.profiling.jfr import EVENT, add_jfr
from pushbench.profiling.profile import Profile, Unprofiled, Window, require_file
from pushbench.profiling.profilers import TOOL_SECONDS, Place, last_line, run_tool

SETTINGS = f"""\
<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0" label="Pushbench">
  <event name="{EVENT}">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">true</setting>
    <setting name="throttle">1ms</setting>
  </event>
</configuration>
"""
"""the throttle: minimum CPU time of a thread between two samples"""
DEPTH = 64
"""frames that are kept of a stack, as by default in the Flight Recorder"""
RECORDING = "pushbench"


class FlightRecorder:
    """`jcmd` starts the recording when the load begins: a start of the JVM uses more CPU than the load."""

    by_wall = False
    options: Sequence[str] = ()

    def __init__(self, place: Place) -> None:
        self.name = "JDK Flight Recorder"
        self._place = place
        self._file = place.files / "recording.jfr"
        self._pid = 0

    def begin(self, pids: Sequence[int], window: Window) -> None:
        self._pid = pids[0]
        settings = self._place.files / "settings.jfc"
        settings.write_text(SETTINGS)
        said = self._jcmd("JFR.start", f"name={RECORDING}", f"settings={settings}")
        if "Started recording" not in said or "Warning" in said:
            raise Unprofiled(f"the Flight Recorder does not start: {last_line(said.encode())}")

    def end(self) -> None:
        self._jcmd("JFR.stop", f"name={RECORDING}", f"filename={self._file}")

    def read(self, windows: Sequence[Window], epoch: float) -> Profile:
        require_file(self._file)
        profile = Profile()
        argv = [self._tool("jfr"), "print", "--json", "--stack-depth", str(DEPTH), "--events", EVENT, str(self._file)]
        with subprocess.Popen(
            argv, env=self._place.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as process:
            assert process.stdout
            late = threading.Timer(TOOL_SECONDS, process.kill)
            late.start()
            try:
                add_jfr(profile, process.stdout, self._place.server, windows, epoch)
            finally:
                late.cancel()
                process.kill()
        return profile

    def _jcmd(self, *arguments: str) -> str:
        return run_tool(self._place, [self._tool("jcmd"), str(self._pid), *arguments]).decode(errors="replace")

    def _tool(self, name: str) -> str:
        return jdk_tool(self._place, name)


def jdk_tool(place: Place, name: str) -> str:
    """A program of the JDK that runs the server. Raises Unprofiled."""
    for each in place.tools.chosen:
        if each.name == "java" and (Path(each.folder) / name).exists():
            return str(Path(each.folder) / name)
    raise Unprofiled(f"the JDK has no {name}")
