"""The results of the fault catalogue for readers: a table, in text and Markdown, and the faults that were missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pushbench.calibration.catalogue import SOUND, WAYS, Catalogue, CatalogueFault
from pushbench.calibration.sightings import FaultResult, FaultResults, Sighting, Word
from pushbench.foundation.text import counted, one_line
from pushbench.metrics.units import format_elapsed, format_number
from pushbench.reporting.markdown import escape, wrapped

ABSENT = "-"
LONGEST_REASON = 120
"""in a cell; the file has the whole text"""
BY_WEIGHT: Sequence[Word] = ("caught", "disturbed", "undecided", "missed")


@dataclass(frozen=True)
class Row:
    """One fault of the catalogue, and the results for its current setting."""

    fault: CatalogueFault
    result: FaultResult

    @property
    def word(self) -> Word | None:
        """The word of all ways together: caught if one way caught it. None if none did and not all were tried."""
        if "caught" not in self.result.words and len(self.result.seen) < len(WAYS):
            return None
        return next(word for word in BY_WEIGHT if word in self.result.words)

    @property
    def cells(self) -> list[str]:
        return [self._cell(self.result.seen.get(way)) for way in WAYS]

    def _cell(self, seen: Sighting | None) -> str:
        if seen is None:
            return ABSENT
        return f"{self.fault.shown(seen.word)}, {format_number(round(seen.seconds))} s"


def rows(catalogue: Catalogue, found: FaultResults) -> list[Row]:
    return [Row(fault, found.of(fault.name, fault.setting)) for fault in catalogue.everything]


def tally(table: Sequence[Row]) -> str:
    """`Of 22 faults, 13 were caught, 1 undecided, 0 disturbed, 2 missed, and 6 open (not tried in every way yet).`"""
    words = [row.word for row in table if row.fault.name != SOUND]
    caught, undecided, disturbed, missed = (
        words.count(word) for word in ("caught", "undecided", "disturbed", "missed")
    )
    return (
        f"Of {counted(len(words), 'fault')}, {caught} were caught, {undecided} undecided, {disturbed} disturbed, "
        f"{missed} missed, and {words.count(None)} open (not tried in every way yet)."
    )


def missed(table: Sequence[Row]) -> Iterator[str]:
    """A sentence, with the reason, for each way that was tried without success on a fault that no way caught."""
    for row in table:
        if row.fault.name == SOUND or row.word == "caught":
            continue
        for way, seen in row.result.looks:
            why = {"missed": row.fault.blind.get(way, "not explained")}.get(seen.word) or "; ".join(seen.reasons)
            yield f"{row.fault.title}, {way}: {seen.word}: {why}"


def markdown(catalogue: Catalogue, found: FaultResults) -> str:
    table = rows(catalogue, found)
    profiles = catalogue.profiles
    lines = [
        "# Which faults are caught",
        "",
        f"A copy of the server `{catalogue.server}` gets one fault at a time, below its own code: data that it writes",
        "to a connection is dropped, delayed or changed. `verify` checks every rule, `run` measures the profile",
        f"`{profiles['run']}` once, and `compare` compares the copy with the same program without a fault (profile",
        f"`{profiles['compare']}`). Each command is tried on its own: `run` and `compare` do not verify first. The",
        "time ends with the verdict. *Caught* means that the command fails, *undecided* that it neither fails",
        "nor passes, and *missed* that it passes. *Disturbed* is *undecided* if the machine disturbed at least half",
        "of the trials. A dash means that the command was not tried. Without a fault, a command that fails is a false",
        "alarm. The timers of delays and locks cost the server with a fault some CPU, which a comparison may report in",
        "addition to the fault.",
        "",
        "`./pushbench calibrate faults --out docs/calibration-faults` generates this page, and continues where it was",
        "interrupted.",
        "",
        tally(table),
        "",
        *_table(["fault", *WAYS], [[escape(row.fault.title), *row.cells] for row in table]),
        "",
    ]
    if caught := [row for row in table if row.word == "caught"]:
        lines += ["## Caught by", "", *_table(["fault", "by", "first reason"], [*_caught(caught)]), ""]
    if sentences := [*missed(table)]:
        lines += ["## Not caught, and why", ""]
        lines += [line for each in sentences for line in wrapped(f"- {escape(each)}", indent="  ")]
        lines += [""]
    if looks := [seen for row in table for _, seen in row.result.looks]:
        lines += [*_measured(looks), ""]
    return "\n".join(lines)


def _caught(caught: Sequence[Row]) -> Iterator[list[str]]:
    for row in caught:
        for way, seen in row.result.looks:
            if seen.word == "caught" and seen.reasons:
                yield [escape(row.fault.title), f"`{way}`", escape(one_line(seen.reasons[0], LONGEST_REASON))]


def _measured(looks: Sequence[Sighting]) -> Iterator[str]:
    days = sorted(seen.when[:10] for seen in looks)
    environments = sorted({seen.environment for seen in looks if seen.environment})
    most = sorted({seen.most_seconds for seen in looks if seen.most_seconds})
    yield f"Measured from {days[0]} to {days[-1]}. Environments: {', '.join(environments) or 'none'}."
    if most:
        yield f"The time limit of a comparison was {' or '.join(format_elapsed(each) for each in most)}."


def _table(header: Sequence[str], cells: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(header)} |"
    yield "|---" * len(header) + "|"
    yield from (f"| {' | '.join(line)} |" for line in cells)
