"""`pushbench ci`: the steps of the workflows, which also run on a laptop."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from pushbench.cli import options
from pushbench.cli.options import JsonOption
from pushbench.errors import EXIT_FAIL, EXIT_PASS, EXIT_UNDECIDED, UserError
from pushbench.site.keeping import PUBLISHED

if TYPE_CHECKING:
    from pushbench.ci.branch import Branch
    from pushbench.ci.plan import Plan
    from pushbench.ci.result import Results
    from pushbench.project import Project

_PLAN = "Example: `pushbench ci plan --json` in a job of GitHub Actions; its outputs are plan, steps and said."
_IMAGES = "Examples: `pushbench ci images --output push --cache registry`; `pushbench ci images --get out/images`."
_BENCH = "Example: `PLAN=$(pushbench ci plan --json) pushbench ci bench`."
_REPORT = "Example: `GITHUB_TOKEN=... pushbench ci report --run 1234567890`."
_ADOPT = "Example: `pushbench ci adopt --repository ../mine --folder bench/my-server --base main`."
_PUBLISH = "Examples: `pushbench ci publish --run 1234567890`; `pushbench ci publish --results out/ci/results`."
_GATE = 'Example: `NEEDS=\'{"plan": ..., "bench": ...}\' pushbench ci gate`.'

RunOption = Annotated[int, typer.Option("--run", min=1, help="Of the workflow bench.", metavar="ID")]
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


def register(app: typer.Typer) -> None:
    group = typer.Typer(help="What the workflows on GitHub do.", no_args_is_help=True)
    group.command("plan", epilog=_PLAN)(plan)
    group.command("images", epilog=_IMAGES)(images)
    group.command("bench", epilog=_BENCH)(bench)
    group.command("report", epilog=_REPORT)(report)
    group.command("publish", epilog=_PUBLISH)(publish)
    group.command("gate", epilog=_GATE)(gate)
    group.command("adopt", epilog=_ADOPT)(adopt)
    app.add_typer(group, name="ci")


def plan(*, as_json: JsonOption = False) -> None:
    """Say what the event of this job measures, and why not more.

    Reads GITHUB_EVENT_NAME, GITHUB_EVENT_PATH, GITHUB_REPOSITORY and GITHUB_SHA; PUSHBENCH_PUSH_PROFILE,
    PUSHBENCH_CHECK_PROFILE, PUSHBENCH_COMPARE_PROFILE, PUSHBENCH_MAX_TIME and PUSHBENCH_DRIVER change what is measured.
    """
    from pushbench.catalog import read_catalog
    from pushbench.ci import actions
    from pushbench.ci.change import read_change
    from pushbench.ci.event import read_event
    from pushbench.ci.plan import Settings, make_plan
    from pushbench.ci.result import Result, StepResult, write_result
    from pushbench.project import Project

    project = Project.current()
    event = read_event(os.environ)
    change = read_change(project.root, event)
    today = datetime.now(UTC).date()
    made = make_plan(event, read_catalog(project.servers), change, Settings.read(os.environ), today)
    waits = made.untrusted and event.name == "pull_request"
    steps = [
        StepResult(step=step, outcome="inconclusive" if waits else "unfinished", seconds=0, said="", measured=None)
        for step in made.steps
    ]
    write_result(_results(_fresh(project)), Result(plan=made, steps=steps))
    actions.set_outputs(
        {
            "steps": str(len(made.steps)),
            "said": "; ".join(made.notes),
            "measure": str(bool(made.steps) and not waits).lower(),
            "untrusted": str(made.untrusted).lower(),
        }
    )
    _tell(made, as_json=as_json)


def images(
    *,
    output: Annotated[
        Literal["load", "push", "archive"],
        typer.Option("--output", help="Into the engine, to the registry, or below out/images.", metavar="WHERE"),
    ] = "load",
    cache: Annotated[
        Literal["none", "local", "registry"],
        typer.Option("--cache", help="Where layers are kept.", metavar="none|local|registry"),
    ] = "none",
    get: Annotated[
        bool, typer.Option("--get", help="Do not build: bring them here, from --archives or their registry.")
    ] = False,
    archives: Annotated[
        Path | None, typer.Option("--archives", help="Of `--output archive`.", metavar="FOLDER")
    ] = None,
) -> None:
    """Build the images that the plan needs, or bring them to the machine that measures.

    The plan is the variable PLAN. Images of the base that are nowhere are built when they are compared.
    """
    from pushbench.ci import imaging
    from pushbench.engine import Engine
    from pushbench.project import Project
    from pushbench.trees import check_out

    project, planned = Project.current(), _planned()
    head = check_out(project, planned.sha) if planned.untrusted else project
    if not get:
        if planned.untrusted and output == "push":
            raise UserError("what a stranger wrote is not pushed to the registry", hint="--output archive")
        imaging.make(project, head, planned.images, options.note, output=output, cache=cache)
        return
    engine = Engine.find()
    if engine is None:
        raise UserError("no container engine answers", hint="start Docker, or set PUSHBENCH_DRIVER to process")
    missing = imaging.get(engine, head, planned.images, archives, options.note)
    if missing:
        raise UserError(f"no image of {', '.join(missing)}: neither an archive nor in the registry")
    if planned.base:
        absent = imaging.get(engine, check_out(project, planned.base), planned.images, None, options.note)
        if absent:
            options.note(f"the base's images of {', '.join(absent)} will be built")


def bench(
    *,
    history: Annotated[
        str,
        typer.Option(
            "--history", help="Judge runs by those on this branch, too.", metavar="BRANCH", show_default=False
        ),
    ] = "",
) -> None:
    """Carry out the plan in the variable PLAN; leave results in out/ci/results, and a summary of the step.

    Exit code: 0 pass, 1 fail, 2 a step could not be carried out, 3 inconclusive, invalid or ended early.
    """
    import tempfile

    from pushbench.ci import actions
    from pushbench.ci.benching import Bench, Ended
    from pushbench.ci.publishing import HISTORY
    from pushbench.ci.result import read_results
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.project import Project

    project = Project.current()
    planned = _planned()
    out = _fresh(project)
    with tempfile.TemporaryDirectory(prefix="pushbench-") as folder:
        store = None
        if history and _branch(project, history).fetch(Path(folder)):
            store = Path(folder) / HISTORY
        job = Bench(project, out, planned, thresholds_of(project), _results(out), store, options.note)
        try:
            with actions.inert_log():
                job.play()
        except Ended:
            options.note("ended: what was measured until then is in out/ci")
    found = read_results(_results(out))
    outcome = found.result.outcome
    actions.add_summary(_summary(found))
    actions.set_outputs({"outcome": outcome})
    options.note(f"{outcome}: {project.relative(_results(out))}")
    raise typer.Exit({"pass": EXIT_PASS, "fail": EXIT_FAIL, "error": 2}.get(outcome, EXIT_UNDECIDED))


def report(*, run: RunOption) -> None:
    """Comment on the pull request of a finished run and make its check run.

    Reads GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN, which needs the permissions actions: read,
    pull-requests: write and checks: write.
    """
    from pushbench.ci import actions, reporting
    from pushbench.ci.github import GitHub

    site = os.environ.get("PUSHBENCH_SITE", "")
    with GitHub(_repository(), _token(), note=options.note, api=_api()) as github:
        drafted = reporting.report(github, run, site, options.note)
    actions.add_summary(drafted.summary)


def publish(
    *,
    run: Annotated[int | None, typer.Option("--run", min=1, help="Of the workflow bench.", metavar="ID")] = None,
    results: Annotated[Path | None, typer.Option("--results", help="Instead of --run.", metavar="FOLDER")] = None,
    branch: BranchOption = "gh-pages",
    keep_records: KeepOption = PUBLISHED,
) -> None:
    """Add the runs of a finished job to the branch that the site is made of, make the site again, and export the runs
    for other tools.

    The branch keeps the newest full records, and of older runs medians. Several may publish at once.

    Reads GITHUB_REPOSITORY, GITHUB_API_URL and GITHUB_TOKEN, which needs the permission contents: write, and
    actions: read with --run.
    """
    from pushbench.ci import publishing, reporting
    from pushbench.ci.github import GitHub
    from pushbench.ci.result import read_results
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.project import Project
    from pushbench.site.building import build
    from pushbench.site.inputs import Inputs
    from pushbench.site.layout import Folder
    from pushbench.site.pages import build_pages, install_pages

    project = Project.current()
    if (run is None) == (results is None):
        raise UserError("say which: --run ID or --results FOLDER")
    if run is not None:
        with GitHub(_repository(), _token(), note=options.note, api=_api()) as github:
            found, problem = reporting.fetch_results(github, reporting.expected_run(github, run))
        if found is None:
            raise UserError(f"the run {run} has no results: {problem or 'it left none'}")
    else:
        assert results
        found = read_results(results)
    measured = publishing.publishable(found)
    names = ", ".join(each.record.id for each in measured)
    pages = build_pages(project, options.note)
    target = _branch(project, branch)
    released = publishing.released(target, options.note)

    def change(folder: Path) -> None:
        for each in measured:
            publishing.add(folder, each)
        store, records = folder / publishing.HISTORY, folder / publishing.RECORDS
        inputs = Inputs(project, records, store, thresholds_of(project), keep=keep_records, released=released)
        build(inputs, folder, options.note)
        install_pages(pages, Folder(folder))

    written = target.append(change, f"Add {names}", note=options.note)
    options.note(f"{branch} is at {written[:12]}: {names}")
    for path in publishing.export(project.out / "export", measured):
        options.note(f"wrote {project.relative(path)}")


def gate() -> None:
    """Say whether the jobs of the workflow amount to a pass; NEEDS is `toJSON(needs)`.

    Exit code: 0 when everything planned was measured and passes, or nothing was to be measured; else 1.
    """
    from pushbench.ci import actions
    from pushbench.ci.gate import decide, read_needs

    answer = decide(read_needs(os.environ.get("NEEDS", "")))
    actions.annotate("notice" if answer.passes else "error", answer.sentence)
    print(answer.sentence)
    raise typer.Exit(EXIT_PASS if answer.passes else EXIT_FAIL)


def adopt(
    *,
    repository: Annotated[Path, typer.Option("--repository", help="A checkout of it.", metavar="FOLDER")],
    folder: Annotated[str, typer.Option("--folder", help="Of the server, in the repository.", metavar="PATH")],
    profile: Annotated[str, typer.Option("--profile", help="Where nothing is compared.", metavar="PROFILE")] = "quick",
    base: Annotated[str, typer.Option("--base", help="Compare with this commit of it.", metavar="REF")] = "",
    as_json: JsonOption = False,
) -> None:
    """Take a server of another repository into this checkout, as commits, and say how it will be measured."""
    from pushbench.ci.adopting import Adoption, adopt
    from pushbench.ci.plan import Settings
    from pushbench.project import Project

    wanted = Adoption(repository, folder, profile, base)
    _tell(adopt(Project.current(), wanted, Settings.read(os.environ)), as_json=as_json)


def _tell(made: Plan, *, as_json: bool) -> None:
    from pushbench.ci import actions

    actions.set_outputs({"plan": made.model_dump_json(by_alias=True)})
    if as_json:
        options.print_json(made.model_dump(mode="json", by_alias=True))
        return
    for step in made.steps:
        print(f"./pushbench {' '.join(step.arguments)}: {step.why}")
    for note in made.notes:
        print(note)


def _planned() -> Plan:
    from pydantic import ValidationError

    from pushbench.ci.plan import Plan

    try:
        return Plan.model_validate_json(os.environ.get("PLAN", ""))
    except ValidationError as error:
        raise UserError(f"PLAN is not what `pushbench ci plan` says: {error.errors()[0]['msg']}") from None


def _fresh(project: Project) -> Path:
    """An empty out/ci: what an earlier job left there is not this one's."""
    folder = project.out / "ci"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _results(out: Path) -> Path:
    return out / "results"


def _summary(found: Results) -> str:
    from pushbench.ci.drafting import message
    from pushbench.comment import MARK, comment

    return comment(message(found)).removeprefix(f"{MARK}\n")


def _branch(project: Project, name: str) -> Branch:
    from pushbench.ci.branch import Branch
    from pushbench.git import git

    url = git(project.root, "remote", "get-url", "origin").text
    if not url:
        raise UserError("the checkout has no origin", where=str(project.root))
    return Branch(url, name, os.environ.get("GITHUB_TOKEN", ""))


def _repository() -> str:
    return _variable("GITHUB_REPOSITORY")


def _token() -> str:
    return _variable("GITHUB_TOKEN")


def _api() -> str:
    return os.environ.get("GITHUB_API_URL") or "https://api.github.com"


def _variable(name: str) -> str:
    value = os.environ.get(name, "")
    if not value:
        raise UserError(f"{name} is not set", hint="it is in a job of GitHub Actions; elsewhere set it yourself")
    return value
