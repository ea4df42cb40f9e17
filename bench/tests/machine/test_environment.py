"""Which CPUs a server gets, and what makes two environments different."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pushbench.machine.environment import (
    CpuSplit,
    environment_key,
    parse_cpu_list,
    physical_cores,
    read_environment,
    set_apart,
    shorten_kernel,
    split_cpus,
)
from pushbench.records.environment import METHOD
from pushbench.records.store import read_record

REAL = Path(__file__).parents[1] / "data" / "real"
"""records of method 1"""


@pytest.mark.parametrize(
    ("cores", "server", "generator"),
    [
        ([[0], [1]], [0], [1]),
        ([[0], [1], [2], [3]], [0, 1], [2, 3]),
        ([[0, 4], [1, 5], [2, 6], [3, 7]], [0, 4, 1, 5], [2, 6, 3, 7]),
        ([[0, 1], [2, 3]], [0, 1], [2, 3]),
        ([[0], [1], [2]], [0], [1, 2]),
        ([[0, 1]], [0], [1]),
    ],
)
def test_the_server_gets_half_of_the_cores_and_siblings_stay_together(
    cores: list[list[int]], server: list[int], generator: list[int]
) -> None:
    assert split_cpus(cores) == CpuSplit(server, generator)


def test_a_single_cpu_is_shared_and_says_so() -> None:
    assert split_cpus([[3]]) == CpuSplit([3], [3])
    assert split_cpus([[3]]).shared
    assert not split_cpus([[0], [1]]).shared


@pytest.mark.parametrize(("text", "cpus"), [("0-3,8", {0, 1, 2, 3, 8}), ("5", {5}), ("", set())])
def test_reads_the_kernels_lists_of_cpus(text: str, cpus: set[int]) -> None:
    assert parse_cpu_list(text) == cpus


def test_every_cpu_that_may_be_used_is_in_one_core() -> None:
    cpus = os.sched_getaffinity(0)
    assert sorted(cpu for core in physical_cores(cpus) for cpu in core) == sorted(cpus)


def test_the_key_is_the_same_for_the_same_machine_and_another_for_another() -> None:
    split = split_cpus(physical_cores(os.sched_getaffinity(0)))
    here = read_environment(split, "process")
    assert here.key == read_environment(split, "process").key
    facts = here.model_dump(exclude={"key"})
    assert environment_key(facts) == here.key
    assert environment_key({**facts, "cpu_model": "another"}) != here.key
    assert environment_key({**facts, "method": 1}) != here.key
    assert read_environment(split, "process", generators=2).key != here.key
    assert environment_key({**facts, "memory_bytes": here.memory_bytes + 4096}) == here.key


def test_a_machine_that_is_not_like_the_others_is_an_environment_of_its_own() -> None:
    here = read_environment(split_cpus([[0]]), "process")
    other = set_apart(here, "bench-2")
    assert other.key not in (here.key, set_apart(here, "bench-3").key)
    assert other.model_copy(update={"key": here.key, "machine": None}) == here
    assert set_apart(here, "bench-2") == other


def test_cpus_that_are_kept_awake_make_another_environment() -> None:
    split = split_cpus([[0]])
    asleep, awake = (read_environment(split, "process", awake=each) for each in (False, True))
    assert (asleep.awake, awake.awake) == (None, True)
    assert awake.key != asleep.key == read_environment(split, "process").key


def test_one_generator_is_the_rule_and_several_are_told() -> None:
    split = split_cpus([[0]])
    assert read_environment(split, "process").generators is None
    assert read_environment(split, "process", generators=2).generators == 2


def test_an_environment_says_by_which_definitions_its_metrics_are() -> None:
    here = read_environment(split_cpus([[0]]), "process")
    assert (here.method, here.method_number) == (METHOD, METHOD)
    assert here.model_copy(update={"method": None}).method_number == 1


def test_a_record_from_before_the_method_was_kept_has_the_key_that_it_had() -> None:
    newest = sorted(REAL.glob("*.json"))[-1]
    old = read_record(newest).environment
    facts = old.model_dump(exclude={"key"})
    assert (old.method, old.generators, old.method_number) == (None, None, 1)
    assert environment_key(facts) == old.key


@pytest.mark.parametrize(("release", "short"), [("6.18.44-generic", "6.18"), ("5.4.0", "5.4"), ("odd", "odd")])
def test_a_patch_release_of_the_kernel_starts_no_new_series(release: str, short: str) -> None:
    assert shorten_kernel(release) == short


def test_runs_with_different_databases_are_never_compared() -> None:
    split = split_cpus([[0]])

    def key(**services: str) -> str:
        return read_environment(split, "process", services=services).key

    assert key() == read_environment(split, "process").key
    assert len({key(), key(mysql="MySQL 8.4.11"), key(mysql="MariaDB 10.11.19")}) == 3
