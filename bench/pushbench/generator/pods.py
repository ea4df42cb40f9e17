"""The reports of a load whose generators ran elsewhere, such as in pods: read from their logs, checked and merged.

The generators of a run on this machine are in `load`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import tail
from pushbench.foundation.text import one_line
from pushbench.generator.merging import merge, require_same_load
from pushbench.generator.reports import reports_in
from pushbench.records.load_report import LoadReport
from pushbench.statistics.histogram import Latencies

APART_MOST = 60.0
"""seconds between the starts of a load's generators, by the clocks of their nodes. The operator starts all within a few
seconds, and clocks that NTP keeps differ by less than one. Reports that are further apart belong to two loads"""
SEGMENT = re.compile(r"(\d{1,6}(/[1-9]\d{0,5})?):(\d{1,6}(/[1-9]\d{0,5})?)")
HOW = "`kubectl logs` of each runner makes the files: docs/containers.md"


@dataclass(frozen=True)
class Part:
    """The report of one generator, and where it was read."""

    where: str
    report: LoadReport

    @property
    def segment(self) -> tuple[Fraction, Fraction]:
        """The part of the clients that it played. Raises UserError if the report does not have it."""
        if not SEGMENT.fullmatch(self.report.segment):
            raise UserError(f"expected a segment such as 0:1/2, found {self.report.segment!r}", where=self.where)
        begin, _, end = self.report.segment.partition(":")
        return Fraction(begin), Fraction(end)


@dataclass(frozen=True)
class Gathered:
    """One report of all generators."""

    report: LoadReport
    generators: int
    apart_seconds: float
    """between the first start and the last, by the clocks of their nodes"""
    cut_short: Sequence[str] = ()
    """where reports were read that lack stages which others have; the sum has only stages that no report lacks"""


def gather(folder: Path) -> Gathered:
    """Read and merge the reports in the files of a folder. Raises UserError for one that is missing, there twice, of
    another load or broken.
    """
    return merge_parts(list(_read(folder)), str(folder))


def merge_parts(parts: Sequence[Part], where: str) -> Gathered:
    """Merge the reports that `where` names as a whole. Raises UserError as `gather` does."""
    first, *others = parts
    for other in others:
        _require_same(first, other)
    _require_whole(parts, where)
    starts = [part.report.started_unix_us / 1e6 for part in parts]
    stages = max(len(part.report.stages) for part in parts)
    try:
        report = merge([part.report for part in parts])
    except ValueError as error:
        raise UserError(str(error), where=where) from None
    cut_short = [part.where for part in parts if len(part.report.stages) < stages]
    return Gathered(report, len(parts), max(starts) - min(starts), cut_short)


def _read(folder: Path) -> Iterator[Part]:
    """The reports in all files, in the order of their names. Hidden files are left out."""
    if not folder.is_dir():
        raise UserError("there is no such folder", where=str(folder), hint=HOW)
    files = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    if not files:
        raise UserError("the folder has no files", where=str(folder), hint=HOW)
    for file in files:
        found = 0
        try:
            for line, report in reports_in(file.read_text(errors="replace")):
                found += 1
                _require_readable(report)
                yield Part(f"{file}:{line}", report)
        except ValueError as error:
            raise UserError(str(error), where=str(file)) from None
        if not found:
            last = next((line for line in reversed(tail(file).splitlines()) if line.strip()), None)
            ends = f"its last line: {one_line(last, 200)}" if last else "it is empty"
            hint = "set PUSH_REPORT=stdout for the runner, and wait until it ends"
            raise UserError(f"there is no load report in it; {ends}", where=str(file), hint=hint)


def _require_readable(report: LoadReport) -> None:
    """Raises ValueError if a histogram of a stage is not one."""
    for stage in report.stages:
        texts = [*stage.histograms.model_dump().values(), *(each.own for each in stage.beside.values())]
        for text in texts:
            if text is not None:
                Latencies.decode(text)


def _require_same(first: Part, other: Part) -> None:
    """Raises UserError if the two reports are not of one load."""
    one, another = first.report, other.report
    try:
        require_same_load(one, another)
    except ValueError as error:
        raise UserError(f"{error}: not the same load as {first.where}", where=other.where) from None
    if another.generator != one.generator:
        said = f"k6 {one.generator.k6} and {another.generator.k6}, extension {one.generator.extension} and "
        said += f"{another.generator.extension}, {one.generator.go} and {another.generator.go}"
        raise UserError(f"not the same generator as {first.where}: {said}", where=other.where)
    later = (another.started_unix_us - one.started_unix_us) / 1e6
    if abs(later) > APART_MOST:
        what = f"it began {abs(later):,.0f} s {'after' if later > 0 else 'before'} {first.where}: two different loads"
        raise UserError(what, where=other.where, hint="fetch the logs of a single TestRun")


def _require_whole(parts: Sequence[Part], place: str) -> None:
    """Raises UserError if a part of the clients is played twice, or not at all."""
    ordered = sorted(parts, key=lambda part: part.segment)
    for one, other in pairwise(ordered):
        if other.segment[0] < one.segment[1]:
            what = f"clients appear twice: {other.report.segment} here, and {one.report.segment} in {one.where}"
            raise UserError(what, where=other.where, hint="keep the log of each runner once")
    borders = [Fraction(0), *(border for part in ordered for border in part.segment), Fraction(1)]
    for end, begin in zip(borders[::2], borders[1::2], strict=True):
        if end != begin:
            what = f"the report of the clients {end}:{begin} is missing"
            raise UserError(what, where=place, hint="fetch the log of every runner")
