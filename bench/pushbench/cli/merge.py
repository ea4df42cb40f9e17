"""`pushbench merge`: the load reports of generators that ran in pods, merged into one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pushbench.cli import options
from pushbench.cli.examples import examples
from pushbench.cli.options import JsonOption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pushbench.generator.pods import Gathered
    from pushbench.records.load_report import LoadReport, StageReport

_EXAMPLES = examples(
    "kubectl logs -l k6_cr=push --tail=-1 > logs/push; ./pushbench merge logs",
    "./pushbench merge logs --json > report.json",
)


def register(app: typer.Typer) -> None:
    app.command("merge", epilog=_EXAMPLES)(merge)


def merge(
    folder: Annotated[
        Path, typer.Argument(help="Logs of the runners of one TestRun, or their reports.", metavar="FOLDER")
    ],
    *,
    as_json: JsonOption = False,
) -> None:
    """Merge the load reports of all generators of a load.

    For loads that the k6 operator played, without `run`: docs/containers.md has a TestRun to copy. The merged report
    has what clients saw. It lacks the server's CPU and memory, which were not measured. Refuses a folder in which a
    report is missing, duplicated, broken or from another load.
    """
    from pushbench.generator.pods import gather

    gathered = gather(folder)
    for place in gathered.cut_short:
        options.note(f"{place}: ended early; stages that it lacks are left out")
    if as_json:
        options.print_json(gathered.report.model_dump(mode="json"))
    else:
        print("\n".join(_lines(gathered)))


def _lines(gathered: Gathered) -> Iterator[str]:
    from pushbench.foundation.text import counted, one_line

    report = gathered.report
    yield one_line(f"{report.protocol} at {report.url}")
    apart = f"; starts {gathered.apart_seconds:.2f} s apart by their nodes' clocks" if gathered.generators > 1 else ""
    yield f"{counted(gathered.generators, 'generator')}{apart}"
    yield ""
    yield from options.table_lines(*_counts(report))
    for stage in report.stages:
        yield ""
        yield from options.table_lines(*_latencies(stage))
    if told := [*_faults(report), *(f"{each.count:,} x {one_line(each.reason)}" for each in report.errors)]:
        yield from ("", *told)
    for each in report.shortages:
        yield f"a node of a generator lacked {each.reason}, so {each.count:,} connections failed"


def _counts(report: LoadReport) -> tuple[list[str], list[list[str]]]:
    from pushbench.metrics.units import format_number

    rows = []
    for stage in report.stages:
        seconds, clients, receipts = (stage.end_us - stage.begin_us) / 1e6, stage.clients, stage.receipts
        rates = [format_number(count / seconds) for count in (stage.messages.sent, stage.arrived)] if seconds else []
        seats = f"{clients.members:,}/{clients.target:,}"
        rows.append([stage.name, seats, *(rates or ["-", "-"]), f"{receipts.expected:,}", f"{receipts.lost:,}"])
    return ["stage", "clients", "sent/s", "received/s", "expected", "lost"], rows


def _faults(report: LoadReport) -> Iterator[str]:
    """Yield a line for each stage with faulty receipts, other than lost ones."""
    for stage in report.stages:
        found = stage.receipts
        if found.duplicate or found.out_of_order or found.corrupt:
            yield (
                f"stage {stage.name}: {found.duplicate:,} received twice, {found.out_of_order:,} out of order, "
                f"{found.corrupt:,} corrupt"
            )


def _latencies(stage: StageReport) -> tuple[list[str], list[list[str]]]:
    from pushbench.metrics.definitions import Unit
    from pushbench.metrics.units import format_quantity
    from pushbench.statistics.histogram import Latencies

    found = {name: text for name, text in stage.histograms.model_dump().items() if text is not None}
    found |= {name: each.own for name, each in stage.beside.items()}
    rows = []
    for name, text in found.items():
        summary = Latencies.decode(text).summary()
        points = (summary.p50, summary.p95, summary.p99, summary.max) if summary else (None,) * 4
        rows.append([name, *(format_quantity(point, Unit.SECONDS) for point in points)])
    return [f"stage {stage.name}", "p50", "p95", "p99", "max"], rows
