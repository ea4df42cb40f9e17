"""What is known of a load in a cluster beside its report: the meters' samples, and how well clocks agree. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pushbench.drivers.cluster_clocks import Compared, seen_by
from pushbench.drivers.cluster_meter import Metered, readings_in, samples_of, unread
from pushbench.foundation.text import one_line
from pushbench.generator.load import Account, Started, moved, together
from pushbench.records.record import Finding

APART_MOST = 1.0
"""seconds between the starts of the generators: the operator's starter calls one after the other, within some 100 ms"""
UNCERTAIN_MOST = 0.01
"""of the shortest window: what the server used is then known as well as its windows are"""


@dataclass(frozen=True)
class Meter:
    """A container beside a server."""

    pod: str
    address: str
    """with the port at which it tells the time"""
    quota_cores: float


@dataclass(frozen=True)
class Heard:
    """What one generator has told."""

    started: Started
    """by its own clock"""
    arrived: float
    """when that was read here"""
    compared: Sequence[Compared]

    def of(self, meter: Meter) -> tuple[Started, float] | None:
        return seen_by(self.started, [each for each in self.compared if each.meter == meter.address])

    def answered(self, meters: Sequence[Meter]) -> bool:
        """Whether it has said of each meter how its clock differs, or that it does not answer."""
        return {meter.address for meter in meters} <= {each.meter for each in self.compared}


def starts_here(heard: Sequence[Heard], meters: Sequence[Meter]) -> list[Started]:
    """The starts of all generators by this machine's clock.

    Between generators they are as exact as their comparisons with the first meter. Without one, they are moved by the
    time that their lines took to arrive.
    """
    seen = [found[0] for each in heard if (found := each.of(meters[0]))] if meters else []
    if len(seen) < len(heard):
        return [moved(each.started, each.arrived - each.started.at) for each in heard]
    later = min(each.arrived - start.at for each, start in zip(heard, seen, strict=True))
    return [moved(start, later) for start in seen]


def account_of(logs: Mapping[Meter, str], heard: Sequence[Heard], told: Sequence[Started], without: str) -> Account:
    """The account of a load whose starts here are `told`. `logs` are those of the meters; where there are none,
    `without` says why.
    """
    account = Account()
    starts = [start.at for start in told]
    apart = max(starts) - min(starts)
    message = f"the generators began {apart:.3f} s apart"
    if apart > APART_MOST:
        account.reasons.append(Finding(code="start_skew", message=f"{message}, more than {APART_MOST:g} s"))
    elif len(heard) > 1:
        account.warnings.append(Finding(code="start_skew", message=message))
    try:
        metered, uncertain = _metered(logs, heard, without)
    except LookupError as error:
        message = f"CPU and memory of the server were not measured: {error.args[0]}"
        account.warnings.append(Finding(code="not_accounted", message=message))
        return account
    window = min(end - begin for begin, end in together(told).windows)
    message = (
        f"the clocks of generators and meter agree to {uncertain * 1e3:.2f} ms, "
        f"{uncertain / window:.3%} of the shortest window"
    )
    if uncertain > UNCERTAIN_MOST * window:
        message = f"CPU and memory of the server were not measured: {message}, above {UNCERTAIN_MOST:.0%}"
        account.warnings.append(Finding(code="not_accounted", message=message))
        return account
    account.warnings.append(Finding(code="border_uncertainty", message=message))
    start = together(told)
    account.samples = samples_of(metered, start)
    account.warnings += _spread(metered, start)
    if missing := unread(metered, start):
        message = f"the meter has no readings at {missing} borders of windows, so what lies there was not measured"
        account.warnings.append(Finding(code="not_accounted", message=message))
    return account


def _spread(metered: Sequence[Metered], start: Started) -> Iterator[Finding]:
    """How the clients of each stage were spread over several pods."""
    if len(metered) < 2:
        return
    for stage, (begin, end) in enumerate(start.windows):
        found = [each.clients((begin - start.at, end - start.at)) for each in metered]
        if None not in found:
            said = " and ".join(", ".join(map(str, found)).rsplit(", ", 1))
            message = f"the Service gave the {len(metered)} pods {said} connections"
            yield Finding(code="spread", message=message, stage=stage)


def _metered(logs: Mapping[Meter, str], heard: Sequence[Heard], without: str) -> tuple[list[Metered], float]:
    """The meters with their clocks, and the worst uncertainty. Raises LookupError, in words, where one has none."""
    if not logs:
        raise LookupError(without)
    found, uncertain = [], 0.0
    for meter, log in logs.items():
        readings = readings_in(log)
        if not any(reading.server for reading in readings):
            said = one_line(log.strip().rpartition("\n")[2], 200) if log.strip() and not readings else ""
            raise LookupError(f"the meter saw no process of the server{f': {said}' if said else ''}")
        starts = []
        for each in heard:
            if (seen := each.of(meter)) is None:
                said = next((one.error for one in each.compared if one.error), "nothing was heard")
                raise LookupError(f"a generator did not reach the meter to compare clocks: {said}")
            starts.append(seen[0])
            uncertain = max(uncertain, seen[1])
        found.append(Metered(readings, together(starts), meter.quota_cores))
    return found, uncertain
