"""`python -m tests.fuzz.campaign`: mutated inputs for every target; each is read or refused with a message.

An input fails if the reader raises anything but UserError, or if it counts as a pass although no seed does.
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from random import Random

import tests.fuzz as package
from pushbench.foundation.errors import UserError
from tests.fuzz.mutations import mutate
from tests.fuzz.target import Target

MOST_SHOWN = 5
"""failures shown for each target"""
TOLD_EVERY_SECONDS = 30.0


@dataclass
class Tally:
    """The results of one target's inputs."""

    target: str
    inputs: int = 0
    sentences: int = 0
    """inputs that were refused with a UserError"""
    read: int = 0
    """inputs that were read and do not count as a pass"""
    passes: int = 0
    """inputs that count as a pass, as a seed does"""
    slowest_seconds: float = 0.0
    failures: list[str] = field(default_factory=list)


def targets() -> list[Target]:
    """All targets that the modules of this folder define as TARGET or TARGETS, sorted by name."""
    found: list[Target] = []
    for module in sorted(each.name for each in pkgutil.iter_modules(package.__path__)):
        if module.startswith("test_") or module in ("campaign", "mutations", "target"):
            continue
        loaded = importlib.import_module(f"{package.__name__}.{module}")
        found += [*getattr(loaded, "TARGETS", ()), *([loaded.TARGET] if hasattr(loaded, "TARGET") else [])]
    return sorted(found, key=lambda each: each.name)


def play(target: Target, inputs: int, seed: int, note: Callable[[str], None] = lambda _: None) -> Tally:
    """Feed the target with mutated inputs. The same numbers give the same inputs."""
    tally = Tally(target.name)
    may_pass = any(_passes(target, each) for each in target.seeds)
    told = time.monotonic()
    for number in range(inputs):
        random = Random(f"{target.name}:{seed}:{number}")
        content = mutate(random.choice(target.seeds), random)
        began = time.monotonic()
        _feed(target, content, f"input {number} of seed {seed}", tally, may_pass=may_pass)
        tally.slowest_seconds = max(tally.slowest_seconds, round(time.monotonic() - began, 3))
        if time.monotonic() - told > TOLD_EVERY_SECONDS:
            told = time.monotonic()
            note(f"{target.name}: {number + 1} of {inputs}, {len(tally.failures)} failed")
    return tally


def _passes(target: Target, content: bytes) -> bool:
    try:
        return target.read(content)
    except UserError:
        return False


def _feed(target: Target, content: bytes, name: str, tally: Tally, *, may_pass: bool) -> None:
    tally.inputs += 1
    try:
        passes = target.read(content)
    except UserError:
        tally.sentences += 1
    except Exception:
        tally.failures.append(f"{name}: {content[:200]!r}\n{traceback.format_exc(limit=-6)}")
    else:
        tally.passes += passes
        tally.read += not passes
        if passes and not may_pass:
            tally.failures.append(f"{name} counts as a pass: {content[:200]!r}")


def _arguments(given: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.fuzz.campaign",
        description="Feed mutated inputs to everything that reads what others wrote.",
        epilog="Example: `make fuzz INPUTS=1000 TARGET=record`; exit code 1 where an input failed.",
    )
    parser.add_argument("--inputs", type=int, default=10_000, metavar="N", help="of each target (10,000)")
    parser.add_argument("--target", default="", metavar="NAME", help="only this one")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="another one gives other inputs (1)")
    parser.add_argument("--json", action="store_true", help="print JSON on stdout, and nothing else there")
    return parser.parse_args(given)


def _chosen(name: str) -> Iterator[Target]:
    known = targets()
    chosen = [each for each in known if name in ("", each.name)]
    if not chosen:
        raise SystemExit(f"no target {name!r}; there are: {', '.join(each.name for each in known)}")
    yield from chosen


def main(given: Sequence[str]) -> int:
    options = _arguments(given)
    tallies = []
    for target in _chosen(options.target):
        tally = play(target, options.inputs, options.seed, lambda line: print(line, file=sys.stderr, flush=True))
        tallies.append(tally)
        if not options.json:
            counts = f"{tally.sentences:,} sentences, {tally.read:,} read, {tally.passes:,} passes"
            print(f"{tally.target}: {tally.inputs:,} inputs, {counts}, {len(tally.failures):,} failed", flush=True)
            for failure in tally.failures[:MOST_SHOWN]:
                print(failure, flush=True)
    if options.json:
        print(json.dumps([asdict(each) for each in tallies], indent=2))
    return 1 if any(each.failures for each in tallies) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
