"""Some inputs for every target: an error message or success, never a traceback or green. `make fuzz` tries more."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from random import Random

import pytest

from pushbench.foundation.errors import UserError
from tests.fuzz import campaign
from tests.fuzz.mutations import mutate
from tests.fuzz.target import Target

TARGETS = {target.name: target for target in campaign.targets()}
INPUTS = 200
"""for each target; the campaign has fifty times as many"""


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_mutated_inputs_end_with_a_sentence_or_are_read(name: str) -> None:
    tally = campaign.play(TARGETS[name], INPUTS, seed=7)
    assert tally.failures[:3] == []
    assert tally.inputs == INPUTS


@pytest.mark.parametrize("name", TARGETS)
def test_the_seeds_themselves_are_read(name: str) -> None:
    for seed in TARGETS[name].seeds:
        TARGETS[name].read(seed)


def test_the_same_numbers_give_the_same_inputs_and_others_others() -> None:
    seed = json.dumps({"a": [1, {"b": "c"}]}).encode()
    made = [mutate(seed, Random(number)) for number in range(200)]
    assert made == [mutate(seed, Random(number)) for number in range(200)]
    assert len(set(made)) > 100


def test_a_crash_and_a_pass_that_no_seed_has_are_failures() -> None:
    def crash(content: bytes) -> bool:
        raise ZeroDivisionError if content != b"{}" else UserError("no")

    assert len(campaign.play(Target("crash", [b"{}"], crash), 20, 1).failures) > 10
    assert campaign.play(Target("green", [b"{}"], lambda content: content != b"{}"), 20, 1).failures
    assert not campaign.play(Target("fine", [b"{}"], lambda _: True), 20, 1).failures


@pytest.mark.slow
def test_make_fuzz_finds_every_target() -> None:
    root = Path(__file__).parents[3]
    command = ["make", "fuzz", "TARGET=nothing"]
    made = subprocess.run(command, check=False, cwd=root, capture_output=True, text=True)
    assert f"there are: {', '.join(target.name for target in campaign.targets())}" in made.stderr
