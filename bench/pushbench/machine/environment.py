"""The machine of a run: its description, and the division of its CPUs between server and generator."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pushbench.machine.procfs import keyed_numbers, read
from pushbench.records.environment import METHOD, Environment

ADDED_LATER = ("workers", "generators", "method", "services", "machine", "awake")
"""facts that older records do not have"""


@dataclass(frozen=True)
class CpuSplit:
    server: list[int]
    generator: list[int]
    """for the generator, the services and Pushbench itself"""

    @property
    def shared(self) -> bool:
        return bool(set(self.server) & set(self.generator))


def split_cpus(siblings: Iterable[Sequence[int]]) -> CpuSplit:
    """Half of the physical cores for the server; with an odd number the generator gets the larger half.

    `siblings` are the CPUs of each core. With a single core its threads are split, and with a single CPU both share it.
    """
    cores = sorted(sorted(core) for core in siblings)
    if len(cores) == 1:
        cores = [[cpu] for cpu in cores[0]]
    if len(cores) == 1:
        return CpuSplit(cores[0], cores[0])
    half = len(cores) // 2
    return CpuSplit([cpu for core in cores[:half] for cpu in core], [cpu for core in cores[half:] for cpu in core])


def physical_cores(cpus: Iterable[int]) -> list[list[int]]:
    """The CPUs that this process may use, grouped by core; one CPU per core if the machine does not report cores."""
    allowed = set(cpus)
    cores = set()
    for cpu in allowed:
        text = read(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        together = parse_cpu_list(text.strip()) & allowed if text else set()
        cores.add(tuple(sorted(together | {cpu})))
    return [list(core) for core in sorted(cores)]


def parse_cpu_list(text: str) -> set[int]:
    """Parse the kernel's lists: `0-3,8`."""
    ranges = (part.partition("-") for part in text.split(",") if part)
    return {cpu for first, _, last in ranges for cpu in range(int(first), int(last or first) + 1)}


def read_environment(
    split: CpuSplit,
    driver: Literal["process", "docker", "kubernetes", "remote"],
    engine: str | None = None,
    workers: int | None = None,
    *,
    generators: int = 1,
    services: Mapping[str, str] | None = None,
    awake: bool = False,
    elsewhere: Mapping[str, object] | None = None,
) -> Environment:
    """The environment of a run that starts now: this machine, and how it is used. `awake`: its idle CPUs do not halt.
    `elsewhere` has the facts of another machine, where the server runs.
    """
    allowed = os.sched_getaffinity(0) | set(split.server) | set(split.generator)
    facts = {
        "cpu_model": _cpu_model(),
        "cpus": len(allowed),
        "physical_cores": len(physical_cores(allowed)),
        "memory_bytes": keyed_numbers(read("/proc/meminfo") or "").get("MemTotal", 0) * 1024,
        "kernel": shorten_kernel(platform.release()),
        "engine": engine,
        "driver": driver,
        "server_cpus": split.server,
        "generator_cpus": split.generator,
        "workers": workers,
        "generators": generators if generators > 1 else None,
        "method": METHOD,
        "services": dict(services) if services else None,
        "awake": awake or None,
        **(elsewhere or {}),
    }
    return Environment.model_validate({**facts, "key": environment_key(facts)})


def environment_key(facts: Mapping[str, object]) -> str:
    """The digest that separates series: it differs between machines, settings and definitions of the metrics.

    Memory counts in whole GiB, because the kernel's share of it varies from boot to boot. Facts that older records lack
    count only if they are not None, so that those records keep their keys.
    """
    memory = facts["memory_bytes"]
    used = {name: fact for name, fact in facts.items() if name not in ADDED_LATER or fact is not None}
    coarse = {**used, "memory_bytes": round(memory / 2**30) if isinstance(memory, int) else memory}
    return hashlib.sha256(json.dumps(coarse, sort_keys=True).encode()).hexdigest()[:12]


def set_apart(environment: Environment, machine: str) -> Environment:
    """The environment of a machine that is not like the others of its kind, so that nothing is compared with it."""
    facts = {**environment.model_dump(exclude={"key"}), "machine": machine}
    return Environment.model_validate({**facts, "key": environment_key(facts)})


def shorten_kernel(release: str) -> str:
    """`6.18.44-generic` is 6.18: patch releases do not change results, or every update would start a new series."""
    found = re.match(r"\d+\.\d+", release)
    return found[0] if found else release


def _cpu_model() -> str:
    text = Path("/proc/cpuinfo").read_text()
    named = re.search(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    return named[1].strip() if named else platform.machine()
