"""Comparisons of servers with themselves among the runs of a site: each night adds one to those that count. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from pushbench.calibration.error_rates import Calibration, Case, real_cases
from pushbench.calibration.faults import ALIKE
from pushbench.calibration.rates import rate
from pushbench.judging.thresholds import Thresholds
from pushbench.records.record import Record


def cases_of(record: Record, thresholds: Thresholds) -> list[Case]:
    """A run's evidence about the judge: a case for each server that was compared with itself until it was decided."""
    compared = record.comparison
    counts = compared is not None and compared.injected in ALIKE and record.complete
    return [each.model_copy(update={"how": "this site"}) for each in real_cases([record], thresholds)] if counts else []


def with_own_runs(found: Calibration | None, own: Mapping[str, Sequence[Case]], judged_by: str) -> Calibration | None:
    """The calibration of the checkout with the cases of a site's runs, by their ids. A run that the checkout already
    has is not counted twice. None if there is neither.
    """
    new = [case for name, cases in sorted(own.items()) for case in cases if not (found and name in found.records)]
    if not new:
        return found
    known = found or Calibration(environments=[], thresholds_digest=judged_by, cases=[])
    return known.model_copy(update={"cases": [*known.cases, *_joined(new)]})


def _joined(cases: Sequence[Case]) -> list[Case]:
    """One case for each server and fault, from cases with one run each."""
    found: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        found.setdefault((case.server, case.injected), []).append(case)
    return [_case(own) for _, own in sorted(found.items())]


def _case(own: Sequence[Case]) -> Case:
    words = [word for case in own for word, count in case.words.items() for _ in range(count)]
    return own[0].model_copy(
        update={
            "runs": sum(case.runs for case in own),
            "rounds": median(case.rounds for case in own),
            "most_rounds": round(median(case.most_rounds for case in own)),
            "words": {word: words.count(word) for word in sorted(set(words))},
            "failed": rate(sum(case.failed.count for case in own), sum(case.runs for case in own)),
        }
    )
