"""Badges for READMEs of other projects: a word and a number in a small picture. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from pushbench.foundation.text import one_line
from pushbench.metrics.definitions import Metric, metrics_of
from pushbench.metrics.units import format_quantity
from pushbench.records.vocabulary import Vocabulary
from pushbench.site.layout import Data

_COLOURS = {"pass": "#22663a", "fail": "#a3261b", "inconclusive": "#7a5200", "invalid": "#5b5f66"}
"""white text on each has a contrast of at least 5.5"""
_WORST = ("fail", "invalid", "inconclusive", None, "pass")
_NARROW, _WIDE = "fijlrt.,:;|!'() ", "mwMW@%"


def badge(label: str, outcome: str | None, text: str) -> str:
    """An SVG of 20 pixels height. Its words repeat what its colour shows."""
    said = one_line(f"{outcome or 'not judged'}{', ' + text if text else ''}", 60)
    label = one_line(label, 60)
    left, right = (round(_width(each)) + 12 for each in (label, said))
    name, colour = f"{label}: {said}", _COLOURS.get(outcome or "", _COLOURS["invalid"])
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img" '
        f'aria-label="{escape(name)}"><title>{escape(name)}</title>'
        f'<rect width="{left + right}" height="20" rx="3" fill="#30343b"/>'
        f'<path fill="{colour}" d="M{left} 0h{right - 3}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{right - 3}z"/>'
        f'<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">'
        f'<text x="{left / 2:g}" y="14" textLength="{left - 12}">{escape(label)}</text>'
        f'<text x="{left + right / 2:g}" y="14" textLength="{right - 12}">{escape(said)}</text></g></svg>\n'
    )


def _width(text: str) -> float:
    """The approximate width in 11 pixel Verdana; textLength makes it exact."""
    return sum(4.3 if each in _NARROW else 9.9 if each in _WIDE else 6.9 for each in text)


def of_suites(combinations: Sequence[tuple[Data, Vocabulary]], rows: Sequence[Data]) -> Iterator[tuple[str, str]]:
    """Name and content of a badge for each server, and of one for all servers, from one combination of each suite.

    The verdict is that of the newest judged run. With several suites, the badge of all servers has the worst verdict
    and no latency, because latencies of different suites are not comparable.
    """
    outcomes, ranges = [], []
    for combination, words in combinations:
        alike = [row for row in rows if _same(row, combination)]
        shown = metrics_of(words)[words.headline]
        known = [(row["server"], row["values"].get(shown.name)) for row in combination["rows"]]
        for server, value in known:
            outcome = next((run["outcomes"][server] for run in alike if server in run["outcomes"]), None)
            yield server.replace("/", "--"), badge(server, outcome, _range(shown, [value]))
        outcomes.append(next((run["outcome"] for run in alike if run["outcome"]), None))
        ranges.append(_range(shown, [value for _, value in known]))
    if combinations:
        worst = min(outcomes, key=_WORST.index)
        yield "all", badge("pushbench", worst, ranges[0] if len(ranges) == 1 else "")


def _range(shown: Metric, values: Sequence[float | None]) -> str:
    """`delivery p95 1.20 ms to 3.40 ms`; empty if nothing was measured."""
    known = [value for value in values if value is not None]
    if not known:
        return ""
    low, high = (format_quantity(bound(known), shown.unit) for bound in (min, max))
    return f"{shown.in_sentence} {low}" if low == high else f"{shown.in_sentence} {low} to {high}"


def _same(row: Data, combination: Data) -> bool:
    """Whether a row belongs to the combination. Comparisons do not: they measure the servers of pull requests."""
    keys = ("environment", "suite", "profile")
    return not row["comparison"] and all(row[key] == combination[key] for key in keys)
