"""`run --watch`: draws the last minute of the load on the terminal, once a second, on stderr.

It draws numbers that a run has anyway: the seconds that the generator reports, and the samples of the CPU.
"""

from __future__ import annotations

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from pushbench.generator.events import Second, Started
from pushbench.judging.thresholds import Thresholds
from pushbench.machine.sampling import Sample
from pushbench.records.record import PlannedTrial, Record
from pushbench.watching.bounds import Limits, limits_of
from pushbench.watching.minute import SECONDS, Minute
from pushbench.watching.panels import panels
from pushbench.watching.progress import Follower
from pushbench.watching.screen import View, layout


class Drawn(Follower):
    """Uses the whole terminal while trials run, as a pager does, so that a resize leaves no traces.

    Notes are shown below the charts, and are printed when the terminal is restored.
    """

    def __init__(self, console: Console, thresholds: Thresholds) -> None:
        super().__init__()
        self._console, self._thresholds = console, thresholds
        self._live: Live | None = None
        self._notes: list[str] = []
        self._doing = ""
        self._record: Record | None = None
        self._server = ""
        self._limits: Limits = {}
        self._minute: Minute | None = None

    def trial(self, planned: PlannedTrial, total: int, record: Record, seconds_left: float) -> None:
        self._record, self._server, self._minute = record, planned.server, None
        self._read_limits(0)
        super().trial(planned, total, record, seconds_left)

    def started(self, load: Started) -> None:
        self._minute = Minute(load)
        super().started(load)

    def sample(self, sample: Sample) -> None:
        if self._minute:
            self._minute.sample(sample)

    def second(self, second: Second) -> None:
        if self._minute:
            self._minute.second(second)
        super().second(second)

    def stage(self, stage: int, second: Second, *, measured: bool) -> None:
        self._read_limits(stage)
        self.show(self._at(stage, second, measured=measured))

    def note(self, text: str) -> None:
        self._notes.append(text)
        if self._live:
            self._draw()
        else:
            self._print()

    def show(self, what: str) -> None:
        self._doing = what
        if self._live is None:
            self._live = Live(self, console=self._console, auto_refresh=False, screen=True, redirect_stdout=False)
            self._live.start()
        self._draw()

    def close(self) -> None:
        if self._live:
            self._console.clear()  # some terminals, once resized, would scroll back to what is left on it
            self._live.stop()
            self._live = None
            self._print()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._record:
            yield from layout(self._view(self._record), options.max_width, console.height)

    def _view(self, record: Record) -> View:
        return View(
            title=f"{self._title}, {record.suite}, profile {record.profile}",
            left=self.left,
            doing=self._doing,
            panels=panels(self._minute, record, self._limits),
            measured=self._minute.measured() if self._minute else [False] * SECONDS,
            notes=self._notes,
        )

    def _read_limits(self, stage: int) -> None:
        if self._record:
            name = self._record.schedule.stages[stage].name
            self._limits = limits_of(self._thresholds, self._record, self._server, name)

    def _draw(self) -> None:
        if self._live:
            self._live.refresh()

    def _print(self) -> None:
        for text in self._notes:
            self._console.print(Text(text))
        self._notes = []
