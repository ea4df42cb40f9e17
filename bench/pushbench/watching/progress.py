"""What a person sees during a run: a live line on a terminal, otherwise a line for each stage. On stderr only."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.text import Text

from pushbench.generator.events import Second, Started
from pushbench.machine.sampling import Sample
from pushbench.metrics.definitions import Unit
from pushbench.metrics.units import format_elapsed, format_number, format_quantity
from pushbench.records.record import PlannedTrial, Record, StagePlan, Trial
from pushbench.records.stages import is_named


class LoadWatch(Protocol):
    """Receives the events of a load that is played."""

    def started(self, load: Started) -> None: ...

    def second(self, second: Second) -> None: ...

    def sample(self, sample: Sample) -> None:
        """Take a sample. The sampler's thread calls this, so it must not wait."""
        ...


class Unwatched:
    """Shows nothing: the load of another trial is shown meanwhile."""

    def started(self, load: Started) -> None: ...

    def second(self, second: Second) -> None: ...

    def sample(self, sample: Sample) -> None: ...


class Watch(LoadWatch, Protocol):
    """Receives every event of a run, in order."""

    def note(self, text: str) -> None:
        """Show something that stays readable: a build, a server left out."""
        ...

    def trial(self, planned: PlannedTrial, total: int, record: Record, seconds_left: float) -> None:
        """A trial of `record` begins; `total` is 0 if it is not known how many there will be."""
        ...

    def finished(self, trial: Trial) -> None: ...


class SearchWatch(LoadWatch, Protocol):
    """Receives every event of a search for capacities, in order."""

    def note(self, text: str) -> None: ...

    def sweep(self, title: str, stages: Sequence[StagePlan], seconds_left: float) -> None:
        """A sweep begins: loads on a server, one after another."""
        ...


class Follower:
    """Describes the state of a run in words; two subclasses show them."""

    def __init__(self) -> None:
        self._title = ""
        self._total = 0
        self._stages: Sequence[StagePlan] = ()
        self._windows: Sequence[tuple[float, float]] = ()
        self._ends_at = 0.0
        self._work = ""
        self._of_search = False

    def trial(self, planned: PlannedTrial, total: int, record: Record, seconds_left: float) -> None:
        self._total, self._work = total, record.words.work.plural.lower()
        done = {(trial.server, trial.round) for trial in record.trials}
        rounds = [each.round for each in record.plan if each.server == planned.server]
        to_come = [each for each in rounds if (planned.server, each) not in done]
        self._title = self._name(planned, arm=not planned.together, last=max(to_come, default=0))
        self._stages = record.schedule.stages
        self._windows = ()
        self._ends_at = time.monotonic() + seconds_left
        self.show("starting")

    def sweep(self, title: str, stages: Sequence[StagePlan], seconds_left: float) -> None:
        self._title, self._stages, self._windows = title, stages, ()
        self._of_search = True
        self._ends_at = time.monotonic() + seconds_left
        self.show(f"{format_number(stages[0].clients)} clients")

    def started(self, load: Started) -> None:
        self._windows = load.windows

    def second(self, second: Second) -> None:
        stage = sum(1 for _, end in self._windows if end < second.at)
        if self._of_search:  # short enough for 60 columns
            wanted = self._stages[min(stage, len(self._stages) - 1)].clients
            self.show(f"{format_number(second.clients)}/{format_number(wanted)} clients")
            return
        if stage >= len(self._windows):
            self.show("draining")
            return
        self.stage(stage, second, measured=self._windows[stage][0] <= second.at)

    def sample(self, sample: Sample) -> None:
        """Ignore samples: no text reports the machine's resources."""

    def stage(self, stage: int, second: Second, *, measured: bool) -> None:
        at = self._at(stage, second, measured=measured)
        self.show(f"{at}, {format_number(second.received)} {self._work}/s")

    def _at(self, stage: int, second: Second, *, measured: bool) -> str:
        """`stage 2/5 ramp, 280 of 300 clients`."""
        what, planned = "measuring" if measured else "ramp", self._stages[stage].clients
        clients = f"{format_number(second.clients)} of {format_number(planned)} clients"
        if second.clients > planned:  # clients of the stage before, in other groups
            clients = f"{format_number(second.clients)} clients leaving"
        return f"{self._which(stage)} {what}, {clients}"

    def _which(self, stage: int) -> str:
        """`stage 2/5`, `stage 6/7 (classroom-300)`."""
        name = f" ({self._stages[stage].name})" if is_named(self._stages[stage]) else ""
        return f"stage {stage + 1}/{len(self._windows)}{name}"

    def finished(self, trial: Trial) -> None:
        """Show the result of the trial, to stay."""
        self.note(f"{self._name(trial, arm=True)}: {conclusion(trial)}")

    def _name(self, planned: PlannedTrial, *, arm: bool = False, last: int = 0) -> str:
        """`[3/8] node-ws`; `[round 3] node-ws`, with the arm where that matters; `[rounds 3 to 6] node-ws`."""
        if self._total:
            return f"[{planned.order + 1}/{self._total}] {planned.server}"
        which = f"rounds {planned.round} to {last}" if last > planned.round else f"round {planned.round}"
        return f"[{which}] {planned.server}" + (f", {planned.arm}" if arm else "")

    def note(self, text: str) -> None:
        raise NotImplementedError

    def show(self, what: str) -> None:
        raise NotImplementedError

    def close(self) -> None:
        """End the display."""

    @property
    def left(self) -> str:
        return f"{format_elapsed(self._ends_at - time.monotonic())} left"


class Lines(Follower):
    """For logs: one line when a trial starts, when a stage is measured, and when the trial is done."""

    def __init__(self) -> None:
        super().__init__()
        self._told = -1

    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def show(self, what: str) -> None:
        if what == "starting":
            self._told = -1
            self.note(f"{self._title}: {what}, {self.left}")

    def stage(self, stage: int, second: Second, *, measured: bool) -> None:
        if measured and self._told < stage:
            self._told = stage
            clients, work = format_number(second.clients), f"{format_number(second.received)} {self._work}"
            self.note(f"{self._title}: {self._which(stage)}, {clients} clients, {work}/s, {self.left}")


class Terminal(Follower):
    """For people: one line that is kept up to date, and notes above it."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._live: Live | None = None

    def note(self, text: str) -> None:
        self._console.print(Text(text))

    def show(self, what: str) -> None:
        if self._live is None:
            self._live = Live(console=self._console, auto_refresh=False, transient=True)
            self._live.start()
        self._live.update(Text(self._line(what), no_wrap=True, overflow="ellipsis"), refresh=True)

    def _line(self, what: str) -> str:
        """A line no wider than the terminal. The middle is cut, because the time left is at the end."""
        doing, left = Text(f"{self._title}: {what}"), f", {self.left}"
        doing.truncate(max(1, self._console.width - len(left)), overflow="ellipsis")
        return doing.plain + left

    def close(self) -> None:
        if self._live:
            self._live.stop()


def conclusion(trial: Trial) -> str:
    """The result of a trial, in a few words."""
    if trial.failure:
        return f"failed to {trial.failure.step}: {trial.failure.message}"
    if not trial.validity.valid:
        return f"invalid: {trial.validity.reasons[0].message}"
    last = trial.stages[-1]
    loss = last.metrics["loss_ratio"]
    lost = f"{format_quantity(loss, Unit.RATIO)} lost" if loss else "nothing lost"
    name = f"{last.name}: " if is_named(last) else ""
    clients = format_number(last.metrics["clients"] or 0)
    return f"done in {format_elapsed(trial.seconds)}; {name}{clients} clients, {lost}"
