"""Tries every fault of the catalogue with `verify`, `run` and `compare`; writes each result as soon as it is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pushbench import conformance
from pushbench.calibration.catalogue import SOUND, WAYS, Catalogue, CatalogueFault, Way
from pushbench.calibration.faulty_server import FaultyServer
from pushbench.calibration.sightings import FaultResults, Sighting, read_results, said_by_rules, said_by_verdict
from pushbench.catalog.suites import find_suite
from pushbench.comparing.campaign import Budget
from pushbench.comparing.compare import CompareRequest, compare
from pushbench.conformance.side_by_side import Watch as RulesWatch
from pushbench.drivers.choice import DriverChoice
from pushbench.drivers.driver import Build
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.verdict import judge
from pushbench.measuring.common import Options, holding
from pushbench.measuring.preparation import build_each, select_servers
from pushbench.measuring.run import RunRequest, run
from pushbench.measuring.verifying import Built, verify_built
from pushbench.watching.progress import Watch

PROCESS = DriverChoice("process")


@dataclass(frozen=True)
class FaultRequest:
    """The faults to try, and how. No `faults` means no fault first, then all."""

    faults: Sequence[str] = ()
    ways: Sequence[Way] = WAYS
    most_seconds: float = 600.0
    """of a comparison"""
    again: bool = False
    """repeats what was tried before"""
    wait: bool = False


@dataclass(frozen=True)
class Looking:
    """The commands, on the server with faults of this checkout."""

    faulty: FaultyServer
    catalogue: Catalogue
    thresholds: Thresholds
    request: FaultRequest
    commit: str
    watch: Watch

    def look(self, way: Way) -> Sighting:
        """The result of a command for the server with its current setting."""
        return {"verify": self._verify, "run": self._run, "compare": self._compare}[way]()

    @property
    def suite(self) -> str:
        return self.faulty.server.spec.suite

    def digest(self, way: Way) -> str:
        """The digest of the command's criteria."""
        return conformance.digest() if way == "verify" else self.thresholds.digest

    def _verify(self) -> Sighting:
        project, server = self.faulty.project, self.faulty.server.id
        suite = find_suite(project.scenarios, self.suite)
        chosen = select_servers(project, suite, [server], self.watch.note, PROCESS)
        with holding(chosen.driver, Options(PROCESS, wait=self.request.wait), self.watch):
            [prepared] = build_each([(chosen.driver, each) for each in chosen.servers], self.watch.note)
            if not isinstance(prepared.result, Build):
                raise UserError(f"{server}: {prepared.result.message}")
            began = time.monotonic()
            silent = RulesWatch(lambda _: None, lambda *_: None, lambda *_: None)
            [found] = verify_built([Built(prepared.server, prepared.result, chosen.driver)], 1, silent)
        word, reasons = said_by_rules(found)
        return self._sighting("verify", began, word=word, reasons=reasons)

    def _run(self) -> Sighting:
        # Unverified, so that the load runs even if a rule would have rejected the server.
        request = RunRequest(self.suite, self.catalogue.profiles["run"], [self.faulty.server.id])
        options = Options(PROCESS, wait=self.request.wait, verify=False)
        began = time.monotonic()
        record = run(self.faulty.project, request, options, self.watch)
        word, reasons = said_by_verdict(judge(record, self.thresholds), record)
        found = {"environment": record.environment.key, "record": record.id}
        return self._sighting("run", began, word=word, reasons=reasons, **found)

    def _compare(self) -> Sighting:
        request = CompareRequest(
            self.suite,
            self.catalogue.profiles["compare"],
            base="HEAD",
            servers=[self.faulty.server.id],
            budget=Budget(self.request.most_seconds),
        )
        options = Options(PROCESS, wait=self.request.wait, verify=False)
        began = time.monotonic()
        record = compare(self.faulty.project, request, options, self.thresholds, self.watch)
        word, reasons = said_by_verdict(judge(record, self.thresholds), record)
        return self._sighting(
            "compare",
            began,
            word=word,
            reasons=reasons,
            rounds=max((trial.round for trial in record.trials), default=0),
            most_seconds=self.request.most_seconds,
            environment=record.environment.key,
            record=record.id,
        )

    def _sighting(self, way: Way, began: float, **found: object) -> Sighting:
        known = {
            "seconds": round(time.monotonic() - began, 1),
            "judged_by": self.digest(way),
            "when": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": self.commit,
        }
        return Sighting.model_validate(known | found)


Look = Callable[[CatalogueFault, Way], Sighting]


def play(looking: Looking, file: Path) -> FaultResults:
    """Try the faults of the request, and write the results to `file` after each look."""

    def look(fault: CatalogueFault, way: Way) -> Sighting:
        looking.faulty.set(fault.setting)
        return looking.look(way)

    return look_for_each(looking.catalogue, looking.request, file, look, digest=looking.digest, note=looking.watch.note)


def look_for_each(
    catalogue: Catalogue,
    request: FaultRequest,
    file: Path,
    look: Look,
    *,
    digest: Callable[[Way], str],
    note: Callable[[str], None],
) -> FaultResults:
    """Try each fault in each requested way that has no result yet. Raises UserError if rules find a fault in the server
    without one, because their results for other faults would then be worthless.
    """
    found = read_results(file, catalogue.server)
    order = [each.name for each in catalogue.everything]
    for fault in catalogue.select(request.faults):
        for way in request.ways:
            known = found.of(fault.name, fault.setting)
            if not request.again and stands(known.seen.get(way), digest(way), request.most_seconds):
                continue
            note(f"{fault.name} ({fault.title}): {way}")
            seen = look(fault, way)
            if fault.name == SOUND and way == "verify" and seen.word == "caught":
                raise UserError(f"the server without a fault breaks rules: {'; '.join(seen.reasons)}")
            found = found.with_result(known.model_copy(update={"seen": {**known.seen, way: seen}}), order)
            write_atomically(file, found.model_dump_json(indent=2).encode() + b"\n")
            word = fault.shown(seen.word)
            note(f"{fault.name}: {way}: {word} after {seen.seconds:.0f} s {'; '.join(seen.reasons)}".rstrip())
    return found


def stands(known: Sighting | None, digest: str, most_seconds: float) -> bool:
    """Whether a look can be reused: the judge is the same, the machine was quiet, and the time limit is no higher."""
    if known is None or known.word == "disturbed" or known.judged_by != digest:
        return False
    return known.word != "undecided" or known.most_seconds is None or known.most_seconds >= most_seconds
