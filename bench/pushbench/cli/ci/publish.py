"""`pushbench ci publish`: add the results of a job to the branch of the site."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pushbench.cli import options
from pushbench.cli.ci.job import branch_of, github_of_job
from pushbench.cli.examples import examples
from pushbench.foundation.errors import UserError
from pushbench.site.keeping import PUBLISHED

_EXAMPLES = examples(
    "./pushbench ci publish --run 1234567890",
    "./pushbench ci publish --results out/ci/results",
)

KeepOption = Annotated[
    int,
    typer.Option(
        "--keep-records",
        min=1,
        envvar="PUSHBENCH_KEEP_RECORDS",
        help="Full records that the site keeps, the newest ones.",
        metavar="N",
    ),
]
BranchOption = Annotated[str, typer.Option("--branch", help="What the site is made of.", metavar="NAME")]


def register(group: typer.Typer) -> None:
    group.command("publish", epilog=_EXAMPLES)(publish)


def publish(
    *,
    run: Annotated[int | None, typer.Option("--run", min=1, help="Of the workflow bench.", metavar="ID")] = None,
    results: Annotated[Path | None, typer.Option("--results", help="Instead of --run.", metavar="FOLDER")] = None,
    branch: BranchOption = "gh-pages",
    keep_records: KeepOption = PUBLISHED,
) -> None:
    """Publish the runs of a finished job.

    Adds them to the branch that the site is made of, makes the site again, and exports the runs for other tools.

    Of a run, only pushes to the default branch, nights and what goes on with them are published; of others it is said
    that there is nothing to publish. The outputs of the step are published (true or false) and commit.

    The branch keeps the newest full records, and of older runs medians. Several may publish at once.

    Reads GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN, which needs the permission contents: write, and
    actions: read with --run.
    """
    from pushbench.ci import actions, publishing
    from pushbench.ci.result import read_results
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.foundation.project import Project
    from pushbench.site.building import build
    from pushbench.site.inputs import Inputs
    from pushbench.site.layout import Folder
    from pushbench.site.pages import build_pages, install_pages

    project = Project.current()
    if (run is None) == (results is None):
        raise UserError("say which: --run ID or --results FOLDER")
    if run is not None:
        with github_of_job() as github:
            found = publishing.of_run(github, run)
        if isinstance(found, str):
            options.note(f"nothing to publish: {found}")
            actions.set_outputs({"published": "false", "commit": ""})
            return
    else:
        assert results
        found = read_results(results)
    measured = publishing.publishable(found)
    names = ", ".join(each.record.id for each in measured)
    pages = build_pages(project, options.note)
    target = branch_of(project, branch)
    released = publishing.released(target, options.note)

    def change(folder: Path) -> None:
        for each in measured:
            publishing.add(folder, each)
        for searched in found.searched.values():
            publishing.add_search(folder, searched)
        store, records = folder / publishing.HISTORY, folder / publishing.RECORDS
        inputs = Inputs(project, records, store, thresholds_of(project), keep=keep_records, released=released)
        build(inputs, folder, options.note)
        install_pages(pages, Folder(folder))

    written = target.append(change, f"Add {names}", note=options.note)
    options.note(f"{branch} is at {written[:12]}: {names}")
    actions.set_outputs({"published": "true", "commit": found.result.plan.sha})
    for path in publishing.export(project.out / "export", measured):
        options.note(f"wrote {project.relative(path)}")
