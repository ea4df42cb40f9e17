"""Whether a trial measured the server, and not the generator or a disturbed machine. Pure.

A server's own fault is its result and never makes a trial invalid. docs/method.md has the same list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from pushbench.machine.disturbance import Machine
from pushbench.metrics.definitions import Unit
from pushbench.metrics.results import Window, throttled_seconds, waited_for_cpu
from pushbench.metrics.units import format_quantity
from pushbench.records.environment import Environment
from pushbench.records.load_report import Shortage, StageReport
from pushbench.records.record import Finding, StageResult, Trial, Validity
from pushbench.records.vocabulary import Vocabulary

GENERATOR_CPU_MOST = 0.80
"""of the CPUs it may use: above that, its queues grow and the latencies are its own"""
STEAL_MOST = 0.01
"""of the CPU time: what the hypervisor takes is missing in one place and shows as latency in another"""
TAKEN_MOST = 0.05
"""of the server's CPUs, by processes outside the run: 5 % is the suites' margin for CPU time"""
IDLE_ENOUGH = 0.05
"""of the server's CPUs: with less left, others took CPU that the server needed"""
WAITED_MOST = 0.05
"""of a window in which the server was ready and others ran: what arrives then is late, and so is the p95"""
SERVERS_CROWDED, GENERATORS_CROWDED = "servers_crowded", "generators_crowded"
SHARED_CPU_MOST = 0.80
"""of the CPUs that the servers of two trials at the same time share: above that each waits for the other"""
THROTTLED_MOST = 0.01
"""of a window in which the server's own CPU quota stopped it: as much as other processes may take"""
QUOTA_SHARE_USED_UP = 0.90
"""of its quota's CPUs: a server that uses more is stopped because it is overloaded, which is its result"""
SWAPPED_BYTES_MOST = 1 << 20
"""in a window, by the whole machine: idle pages of a desktop cause less"""
CLOCK_STEP_MOST = 0.005
"""seconds between CLOCK_REALTIME and CLOCK_MONOTONIC: NTP slews both alike, so any change is a step"""
DISTURBANCES = frozenset({"steal", "cpu_taken", "throttled", "swap", "clock_step", "generator_late"})
"""codes of disturbances from outside: neither the server nor the generator's own work caused them"""
LATENESS_SHARE_WARN = 0.25
"""of the headline latency's equal percentile: a quarter of the number may then be the generator's own. The verdict
finds out whether that matters for a limit or a margin"""
SERVICES_AND_GENERATOR = ("services_cpu_cores", "generator_cpu_cores")
"""metrics of the programs that share CPUs"""
SHORTAGES = {
    "open_files": ("open file left", "raise `ulimit -n`, or add --generators"),
    "addresses": ("free address and port", "name more --source-addresses, or widen net.ipv4.ip_local_port_range"),
    "buffers": ("network buffer", "raise net.ipv4.tcp_mem, or play fewer clients"),
    "memory": ("memory", "give the machine more, or play fewer clients"),
}
"""what the generator's own machine lacked, and what to raise"""
LATENESS_SHARE_MOST = 0.50
"""of the headline latency's p95: the generator then causes more of the number than the server, whatever it is compared
with"""
LATENESS_ALWAYS_ALLOWED = 0.010
"""seconds: with a server that answers at once, the scheduler's few milliseconds are most of a latency"""
CPUS_FULL = 0.90
"""of the CPUs that there are: the rest is what the kernel needs to go from one thread to the next"""
CONNECT_FAILURES_WARN = 0.01
"""of the stage's clients"""
FREQUENCY_STEP_WARN = 0.10
"""between the slowest and the fastest look at the server's CPUs"""
OTHER_PROCESS_WARN = 0.10
"""of a core, by one process outside the run"""
MEMORY_THREAD_WARN = 0.01
"""of a core: such a thread may keep a CPU for tens of milliseconds at once, so 1 % of the time is in the p99"""


def judge(
    results: Sequence[StageResult],
    reports: Sequence[StageReport],
    windows: Sequence[Window],
    environment: Environment,
    *,
    words: Vocabulary,
    shortages: Sequence[Shortage] = (),
) -> Validity:
    """The findings about a trial; `shortages` are those of the whole load."""
    reasons = [_shortage(each) for each in shortages]
    warnings: list[Finding] = [*_shared_cpus(environment), *_frequency_steps(windows)]
    for index, (result, report, window) in enumerate(zip(results, reports, windows, strict=True)):
        reasons += _generator(index, result, environment.generator_cores)
        reasons += _late_generator(index, result, words)
        reasons += _machine(index, result, window)
        reasons += _taken_cpu(index, window, len(environment.server_cpus))
        reasons += _receipts(index, report)
        reasons += _clients(index, report)
        reasons += _exchanges(index, report, words)
        stopped, used_up = _at_quota(index, result, window)
        reasons += stopped
        warnings += used_up
        warnings += _lateness(index, result, words)
        warnings += _services(index, result, len(environment.generator_cpus))
        warnings += _connect_failures(index, report)
        warnings += _other_processes(index, window)
        warnings += _memory_threads(index, window)
    return Validity(valid=not reasons, reasons=reasons, warnings=warnings)


def without_server(found: Validity, stage: int) -> Validity:
    """The findings of a trial whose server ended in `stage`: findings there are only warnings. Without a server the
    generator does other work, such as reconnecting, and the failure is the server's result in any case.
    """
    late = [reason for reason in found.reasons if reason.stage == stage]
    reasons = [reason for reason in found.reasons if reason.stage != stage]
    return Validity(valid=not reasons, reasons=reasons, warnings=[*found.warnings, *late])


def judge_together(trials: Sequence[Trial], environment: Environment) -> list[Trial]:
    """The validity of trials that ran at the same time: all invalid if they overloaded their shared CPUs."""
    reasons: list[Finding] = []
    for index, stages in enumerate(zip(*(trial.stages for trial in trials), strict=False)):
        reasons += _together(index, stages, environment)
    return [
        trial.model_copy(
            update={
                "validity": Validity(
                    valid=trial.validity.valid and not reasons,
                    reasons=[*trial.validity.reasons, *reasons],
                    warnings=trial.validity.warnings,
                )
            }
        )
        for trial in trials
    ]


def services_saturated(metrics: Mapping[str, float | None], cpus: int) -> bool:
    """Whether backing services and generator used up the CPUs that they share, and the services most of them."""
    services, generator = (metrics.get(name) or 0.0 for name in SERVICES_AND_GENERATOR)
    return 0.0 < cpus * CPUS_FULL <= services + generator and services >= generator


def is_crowded(trial: Trial) -> bool:
    """Whether the trial overloaded the CPUs that it shared with others."""
    return any(reason.code in (SERVERS_CROWDED, GENERATORS_CROWDED) for reason in trial.validity.reasons)


def is_disturbed(trial: Trial) -> bool:
    """Whether the machine was disturbed and nothing else is wrong, so that a repeated trial may be valid."""
    reasons = trial.validity.reasons
    return bool(reasons) and trial.failure is None and all(reason.code in DISTURBANCES for reason in reasons)


def _together(index: int, stages: Sequence[StageResult], environment: Environment) -> Iterator[Finding]:
    asked = [
        (SERVERS_CROWDED, "servers", "cpu_cores", environment.server_cpus, SHARED_CPU_MOST),
        (GENERATORS_CROWDED, "generators", "generator_cpu_cores", environment.generator_cpus, GENERATOR_CPU_MOST),
    ]
    for code, whose, metric, cpus, most in asked:
        share = sum(stage.metrics[metric] or 0.0 for stage in stages) / len(cpus)
        if share > most:
            message = (
                f"the {whose} of all arms used {_percent(share)} of the CPU that they share, above {_percent(most)}: "
                "each may have measured the other"
            )
            yield Finding(code=code, message=message, stage=index)


def _shortage(found: Shortage) -> Finding:
    wanted, remedy = SHORTAGES[found.reason]
    return Finding(
        code="generator_shortage",
        message=f"{found.count} connections failed because the generator had no {wanted}: {remedy}",
    )


def _generator(stage: int, result: StageResult, cpus: int) -> Iterator[Finding]:
    cores = result.metrics["generator_cpu_cores"]
    if cores is not None and cores / cpus > GENERATOR_CPU_MOST:
        share, bound = _percent(cores / cpus), _percent(GENERATOR_CPU_MOST)
        yield Finding(
            code="generator_cpu",
            message=f"the generator used {share} of its CPU, above {bound}: it may have measured itself",
            stage=stage,
        )


def _late_generator(stage: int, result: StageResult, words: Vocabulary) -> Iterator[Finding]:
    late, share = result.metrics["lateness_seconds.p95"], result.metrics["lateness_share.p95"]
    if late is not None and share is not None and late > LATENESS_ALWAYS_ALLOWED and share > LATENESS_SHARE_MOST:
        message = (
            f"the generator sent {format_quantity(late, Unit.SECONDS)} late at p95, {_percent(share)} of the "
            f"{_headline(words)} p95, above {_percent(LATENESS_SHARE_MOST)}: it measured itself more than the server"
        )
        yield Finding(code="generator_late", message=message, stage=stage)


def _lateness(stage: int, result: StageResult, words: Vocabulary) -> Iterator[Finding]:
    parts = [
        f"{late} late at {point} ({_percent(share)} of the {_headline(words)} {point} of {whole})"
        for point in ("p95", "p99")
        if (share := result.metrics[f"lateness_share.{point}"]) is not None and share > LATENESS_SHARE_WARN
        for late, whole in [
            _quantities(result, f"lateness_seconds.{point}", f"{words.headline_latency}_seconds.{point}")
        ]
    ]
    if parts:
        yield Finding(code="send_lateness", message=f"the generator sent {' and '.join(parts)}", stage=stage)


def _headline(words: Vocabulary) -> str:
    return words.latencies[words.headline_latency].title.lower()


def _quantities(result: StageResult, *metrics: str) -> list[str]:
    return [format_quantity(result.metrics[metric], Unit.SECONDS) for metric in metrics]


def _machine(stage: int, result: StageResult, window: Window) -> Iterator[Finding]:
    steal = result.metrics["steal_ratio"]
    if steal is not None and steal > STEAL_MOST:
        yield Finding(
            code="steal",
            message=f"the hypervisor took {_percent(steal)} of the CPU time, above {_percent(STEAL_MOST)}",
            stage=stage,
        )
    borders = _machines(window)
    if borders is None:
        return
    begin, end = borders
    if end.throttled > begin.throttled:
        times = end.throttled - begin.throttled
        yield Finding(code="throttled", message=f"the cgroup's CPU quota stopped the run {times} times", stage=stage)
    swapped = end.swapped_bytes - begin.swapped_bytes
    if swapped > SWAPPED_BYTES_MOST:
        found = format_quantity(swapped, Unit.BYTES)
        yield Finding(code="swap", message=f"the machine swapped {found} of memory", stage=stage)
    step = abs(end.clock_offset_seconds - begin.clock_offset_seconds)
    if step > CLOCK_STEP_MOST:
        found = format_quantity(step, Unit.SECONDS)
        yield Finding(code="clock_step", message=f"the clock was set, by {found}", stage=stage)


def _at_quota(stage: int, result: StageResult, window: Window) -> tuple[list[Finding], list[Finding]]:
    """Reasons and warnings about a server whose CPU quota stopped it. A quota stops what a fixed number of CPUs does
    not: several threads at once, for the rest of a period of 100 ms.
    """
    seconds, cores = throttled_seconds((window.begin, window.end)), result.metrics["cpu_cores"]
    quota = window.end.server.quota_cores if window.end and window.end.server else None
    if not seconds or cores is None or quota is None:
        return [], []
    share = seconds / (result.end_seconds - result.begin_seconds)
    if share <= THROTTLED_MOST:
        return [], []
    message = (
        f"its CPU quota stopped the server for {_percent(share)} of the time, above {_percent(THROTTLED_MOST)}, "
        f"while it used {cores:.2f} of {quota:g} CPUs"
    )
    if cores < QUOTA_SHARE_USED_UP * quota:
        return [Finding(code="throttled", message=message, stage=stage)], []
    return [], [Finding(code="quota_used_up", message=message, stage=stage)]


def _taken_cpu(stage: int, window: Window, cpus: int) -> Iterator[Finding]:
    borders = _machines(window)
    if borders is None or not cpus:
        return
    begin, end = borders
    whole = (end.at - begin.at) * cpus
    idle, own = (end.idle_seconds - begin.idle_seconds) / whole, (end.own_seconds - begin.own_seconds) / whole
    # The kernel scales the user and system time of a process by its ticks since it began (`cputime_adjust` of
    # kernel/sched/cputime.c), so in one window the user time may be wrong. The sum of both is exact.
    taken = min((end.taken_seconds - begin.taken_seconds) / whole, 1 - idle - own)
    waited = (waited_for_cpu((window.begin, window.end)) or 0.0) / whole
    if taken > TAKEN_MOST and (idle < IDLE_ENOUGH or waited > WAITED_MOST):
        harm = f"{_percent(idle)} was idle" if idle < IDLE_ENOUGH else f"the server waited {_percent(waited)} of it"
        message = (
            f"other processes took {_percent(taken)} of the server's CPU time, above {_percent(TAKEN_MOST)}, and {harm}"
        )
        yield Finding(code="cpu_taken", message=message, stage=stage)


def _receipts(stage: int, report: StageReport) -> Iterator[Finding]:
    """More receipts than owed, which no server can cause: a second one is a duplicate, which is the server's result."""
    counts = report.receipts
    if counts.received > counts.expected:
        message = f"{counts.received} receipts were counted, {counts.expected} were owed: a bug of the generator"
        yield Finding(code="too_many_receipts", message=message, stage=stage)


def _clients(stage: int, report: StageReport) -> Iterator[Finding]:
    """Fewer clients than planned. A played client that could not connect or join is the server's result."""
    clients = report.clients
    if clients.playing < clients.target:
        message = f"the generator played {clients.playing} of {clients.target} clients"
        yield Finding(code="clients_missing", message=message, stage=stage)


def _exchanges(stage: int, report: StageReport, words: Vocabulary) -> Iterator[Finding]:
    """Exchanges that the suite counts and its scenario does not play, which were not measured."""
    for name in words.beside.keys() - report.beside.keys():
        message = f"the suite counts {name}, and its scenario has clients send none"
        yield Finding(code="exchange_missing", message=message, stage=stage)


def _services(stage: int, result: StageResult, cpus: int) -> Iterator[Finding]:
    if services_saturated(result.metrics, cpus):
        services, generator = (result.metrics[name] or 0.0 for name in SERVICES_AND_GENERATOR)
        message = (
            f"service saturated: the services used {_percent(services / cpus)} of the CPU that they share with the "
            f"generator, which used {_percent(generator / cpus)}: the load met their limit, perhaps not the server's"
        )
        yield Finding(code="service_saturated", message=message, stage=stage)


def _connect_failures(stage: int, report: StageReport) -> Iterator[Finding]:
    clients = report.clients
    share = clients.connect_failures / clients.target if clients.target else 0.0
    if share >= CONNECT_FAILURES_WARN:
        message = f"{clients.connect_failures} connections failed ({_percent(share)} of {clients.target} clients)"
        yield Finding(code="connect_failures", message=message, stage=stage)


def _other_processes(stage: int, window: Window) -> Iterator[Finding]:
    for pid, command, cores in _cores(window, lambda machine: machine.others):
        if cores > OTHER_PROCESS_WARN:
            message = f"{command} (pid {pid}) used {_percent(cores)} of a core meanwhile"
            yield Finding(code="other_process", message=message, stage=stage)


def _memory_threads(stage: int, window: Window) -> Iterator[Finding]:
    for _, command, cores in _cores(window, lambda machine: machine.memory_threads):
        if cores > MEMORY_THREAD_WARN:
            doing = "it manages memory, and can hold a CPU for milliseconds"
            message = f"the kernel's {command} used {_percent(cores)} of a core: {doing}"
            yield Finding(code="memory_thread", message=message, stage=stage)


def _cores(
    window: Window, of: Callable[[Machine], Mapping[tuple[int, str], float]]
) -> Iterator[tuple[int, str, float]]:
    """The pid, the command and the cores of each process that these counters have."""
    borders = _machines(window)
    if borders is None:
        return
    begin, end = borders
    for (pid, command), seconds in of(end).items():
        yield pid, command, (seconds - of(begin).get((pid, command), 0.0)) / (end.at - begin.at)


def _frequency_steps(windows: Iterable[Window]) -> Iterator[Finding]:
    borders = [machine for window in windows for machine in _machines(window) or ()]
    known = [machine.frequency_hz for machine in borders if machine.frequency_hz]
    if known and max(known) > min(known) * (1 + FREQUENCY_STEP_WARN):
        slowest, fastest = (f"{hertz / 1e9:.2f} GHz" for hertz in (min(known), max(known)))
        message = f"the server's CPUs ran at {slowest} to {fastest}"
        yield Finding(code="frequency_step", message=message)


def _shared_cpus(environment: Environment) -> Iterator[Finding]:
    if set(environment.server_cpus) & set(environment.generator_cpus):
        yield Finding(code="shared_cpu", message="server and generator share the only CPU: latencies contain both")


def _machines(window: Window) -> tuple[Machine, Machine] | None:
    if window.begin and window.end and window.begin.machine and window.end.machine:
        return window.begin.machine, window.end.machine
    return None


def _percent(share: float) -> str:
    return format_quantity(share, Unit.RATIO)
