"""The account of a load in a cluster beside its report: the meters' samples, and how well clocks agree. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pushbench.drivers.cluster_clocks import Compared, seen_by
from pushbench.drivers.cluster_meter import Metered, readings_in, samples_of, unread
from pushbench.drivers.kubelet import Coarse, grain
from pushbench.foundation.text import joined, one_line
from pushbench.generator.events import Started, moved, together
from pushbench.generator.load import Account
from pushbench.machine.resources import Usage
from pushbench.records.record import Finding

APART_MOST = 1.0
"""seconds between the starts of the generators: the operator's starter calls them one by one, within some 100 ms"""
UNCERTAIN_MOST = 0.01
"""fraction of the shortest window: the server's usage is then as exact as its windows"""
COARSE = "coarse_account"
UNTOLD_MOST = 2.5
"""seconds between two events of a generator, which come each second: a longer gap is not interpolated"""


@dataclass(frozen=True)
class Meter:
    """A container beside a server, or beside a service."""

    pod: str
    address: str
    """with the port that serves its time"""
    quota_cores: float
    of_service: bool = False
    """otherwise of the server"""


@dataclass(frozen=True)
class Heard:
    """What one generator has printed."""

    started: Started
    """by the generator's own clock"""
    arrived: float
    """when this process read it"""
    compared: Sequence[Compared]
    spent: Sequence[tuple[float, float]] = ()
    """moments by the generator's own clock, and the CPU seconds that it had used by then"""

    def of(self, meter: Meter) -> tuple[Started, float] | None:
        return seen_by(self.started, [each for each in self.compared if each.meter == meter.address])

    def answered(self, meters: Sequence[Meter]) -> bool:
        """Whether it has reported, for each meter, the difference of the clocks or that the meter does not answer."""
        return {meter.address for meter in meters} <= {each.meter for each in self.compared}


def starts_here(heard: Sequence[Heard], meters: Sequence[Meter]) -> list[Started]:
    """The starts of all generators by this machine's clock.

    Between generators, the starts are as exact as the comparisons with the first meter. Without a meter, each start is
    moved by the time that its line took to arrive.
    """
    seen = [found[0] for each in heard if (found := each.of(meters[0]))] if meters else []
    if len(seen) < len(heard):
        return [moved(each.started, each.arrived - each.started.at) for each in heard]
    later = min(each.arrived - start.at for each, start in zip(heard, seen, strict=True))
    return [moved(start, later) for start in seen]


def account_of(
    logs: Mapping[Meter, str],
    heard: Sequence[Heard],
    told: Sequence[Started],
    without: str,
    coarse: Sequence[Coarse] = (),
) -> Account:
    """The account of a load; `told` are its starts by this machine's clock, and `logs` the logs of the meters. Where
    the server has no meter, `without` gives the reason, and the kubelet's `coarse` readings of its pods replace the
    logs.
    """
    account = Account()
    starts = [start.at for start in told]
    apart = max(starts) - min(starts)
    message = f"the generators began {apart:.3f} s apart"
    if apart > APART_MOST:
        account.reasons.append(Finding(code="start_skew", message=f"{message}, more than {APART_MOST:g} s"))
    elif len(heard) > 1:
        account.warnings.append(Finding(code="start_skew", message=message))
    start = together(told)
    if any(end <= begin for begin, end in start.windows):
        message = "CPU and memory were not measured: the windows of the generators do not overlap in every stage"
        account.warnings.append(Finding(code="not_accounted", message=message))
        return account
    generators = [_Spending(each.spent, each.started.at - one.at) for each, one in zip(heard, told, strict=True)]
    account.samples = samples_of([], start, generators=generators)
    try:
        metered, uncertain = _metered(logs, heard, without)
    except LookupError as error:
        found = _coarsely(coarse, start, str(error.args[0]))
        account.warnings.append(found)
        if found.code == COARSE:
            account.samples = samples_of([], start, servers=coarse, generators=generators)
        return account
    window = min(end - begin for begin, end in start.windows)
    message = (
        f"the clocks of generators and meter agree to {uncertain * 1e3:.2f} ms, "
        f"{uncertain / window:.3%} of the shortest window"
    )
    if uncertain > UNCERTAIN_MOST * window:
        message = f"CPU and memory of the server were not measured: {message}, above {UNCERTAIN_MOST:.0%}"
        account.warnings.append(Finding(code="not_accounted", message=message))
        return account
    account.warnings.append(Finding(code="border_uncertainty", message=message))
    servers, services = ([each for meter, each in metered.items() if meter.of_service is of] for of in (False, True))
    account.samples = samples_of(servers, start, services=services, generators=generators)
    account.warnings += _spread(servers, start)
    if missing := unread(servers, start):
        message = f"the meter has no readings at {missing} borders of windows, so those windows were not measured"
        account.warnings.append(Finding(code="not_accounted", message=message))
    return account


def _spread(metered: Sequence[Metered], start: Started) -> Iterator[Finding]:
    """How the clients of each stage were spread over several pods."""
    if len(metered) < 2:
        return
    for stage, (begin, end) in enumerate(start.windows):
        found = [each.clients((begin - start.at, end - start.at)) for each in metered]
        if None not in found:
            message = f"the Service gave the {len(metered)} pods {joined([str(each) for each in found])} connections"
            yield Finding(code="spread", message=message, stage=stage)


def _coarsely(coarse: Sequence[Coarse], start: Started, why: str) -> Finding:
    """The finding where no meter gives an account, for the reason `why`; COARSE where the kubelet's numbers suffice."""
    try:
        if coarse:
            longest = grain(coarse, start)
            message = f"CPU and memory of the server come from the kubelet, which reads every {longest:.0f} s: {why}"
            return Finding(code=COARSE, message=message)
    except LookupError as error:
        why = f"{why}; {error.args[0]}"
    return Finding(code="not_accounted", message=f"CPU and memory of the server were not measured: {why}")


@dataclass(frozen=True)
class _Spending:
    """The CPU time of a generator."""

    spent: Sequence[tuple[float, float]]
    ahead: float
    """the generator's clock minus the clock of the samples, in seconds"""

    def usage(self, seconds: float, at: float) -> Usage | None:
        """The usage interpolated between the two events around the moment: CPU only."""
        moment = at + self.ahead
        place = bisect_right(self.spent, moment, key=lambda told: told[0])
        if not 0 < place < len(self.spent):
            return None
        (before, less), (after, more) = self.spent[place - 1], self.spent[place]
        if after - before > UNTOLD_MOST:
            return None
        cpu = less + (more - less) * (moment - before) / (after - before)
        return Usage(at, cpu, user_seconds=None, system_seconds=None, memory_bytes=0, threads=None, processes=1)


def _metered(logs: Mapping[Meter, str], heard: Sequence[Heard], without: str) -> tuple[dict[Meter, Metered], float]:
    """The meters with their clocks, and the worst uncertainty. Raises LookupError, with a sentence, if one has none."""
    if all(meter.of_service for meter in logs):
        raise LookupError(without)
    found, uncertain = {}, 0.0
    for meter, log in logs.items():
        readings = readings_in(log)
        if not any(reading.server for reading in readings):
            said = one_line(log.strip().rpartition("\n")[2], 200) if log.strip() and not readings else ""
            whose = "service" if meter.of_service else "server"
            raise LookupError(f"the meter saw no process of the {whose}{f': {said}' if said else ''}")
        starts = []
        for each in heard:
            if (seen := each.of(meter)) is None:
                said = next((one.error for one in each.compared if one.error), "no answer")
                raise LookupError(f"a generator did not reach the meter to compare clocks: {said}")
            starts.append(seen[0])
            uncertain = max(uncertain, seen[1])
        found[meter] = Metered(readings, together(starts), meter.quota_cores)
    return found, uncertain
