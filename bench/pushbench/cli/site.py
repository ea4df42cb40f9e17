"""`pushbench site`: the report site of a folder of records and a history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import note

OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out", help="Where the site goes; existing files are kept.", metavar="FOLDER", show_default="out/site"
    ),
]
RecordsOption = Annotated[
    Path | None, typer.Option("--records", help="Full records.", metavar="FOLDER", show_default="out/records")
]
StoreOption = Annotated[
    Path | None, typer.Option("--store", help="The history.", metavar="FOLDER", show_default="history")
]
CapacitiesOption = Annotated[
    Path | None, typer.Option("--capacities", help="Capacity records.", metavar="FOLDER", show_default="out/capacity")
]
RepositoryOption = Annotated[
    str,
    typer.Option(
        "--repository",
        help="The repository that commits link to.",
        metavar="URL",
        show_default="the workflow's, or none",
    ),
]
KeepRecordsOption = Annotated[
    int | None,
    typer.Option(
        "--keep-records",
        min=1,
        help="Keep the full records of the N newest commits, and remove older ones from --out.",
        metavar="N",
        show_default="all",
    ),
]
PagesOption = Annotated[bool, typer.Option(help="Also build and copy the pages, which requires Node.js.")]

_EXAMPLES = examples(
    "./pushbench site",
    "./pushbench site --records pages/records --store pages/history --out pages",
)


def register(app: typer.Typer) -> None:
    app.command("site", epilog=_EXAMPLES)(site)


def site(
    *,
    out: OutOption = None,
    records: RecordsOption = None,
    store: StoreOption = None,
    capacities: CapacitiesOption = None,
    repository: RepositoryOption = "",
    keep_records: KeepRecordsOption = None,
    pages: PagesOption = True,
) -> None:
    """Write the report site from records and a history.

    Reads only what is new, writes only what changed, and removes nothing except, with --keep-records, full records.
    Releases are the checkout's tags, such as v1.2.3, and those that the site had before. The site is static: any web
    server will do, and index.html can be opened from the disk.
    """
    import time

    from pushbench.cli.conclusion import thresholds_of
    from pushbench.foundation.project import Project
    from pushbench.foundation.text import counted
    from pushbench.site.building import build
    from pushbench.site.inputs import Inputs
    from pushbench.site.layout import Folder
    from pushbench.site.pages import build_pages, install_pages
    from pushbench.site.releases import read_tags

    project = Project.current()
    inputs = Inputs(
        project,
        records or project.records,
        store or project.history,
        thresholds_of(project),
        repository or None,
        keep_records,
        read_tags(project.root),
        capacities or project.capacities,
    )
    folder = (out or project.site).resolve()
    built_pages = build_pages(project, note) if pages else None
    began = time.monotonic()
    built = build(inputs, folder, note)
    if built_pages:
        install_pages(built_pages, Folder(folder))
    written = f"{counted(len(built.written), 'file')} written in {time.monotonic() - began:.1f} s"
    note(f"{counted(built.runs, 'run')}, {written}: {project.relative(folder)}/index.html")
