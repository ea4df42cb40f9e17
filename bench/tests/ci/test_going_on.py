"""A night that gave way, and nothing else, is finished by another job, as one record."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from pushbench.ci.benching import Bench
from pushbench.ci.event import Inputs
from pushbench.ci.going_on import start
from pushbench.ci.plan import Plan
from pushbench.ci.result import Result, Results, read_results
from pushbench.ci.steps import Step
from pushbench.cli import app
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from tests.ci.events import HEAD, environment
from tests.ci.github_double import FORK, RUN, Double
from tests.ci.job_results import make_result, zipped
from tests.ci.nights import CONTROL, MEASURE, OF_CONTROL, SERVERS, inputs, left_by, night, partial, taken_up, whole
from tests.factories import make_thresholds
from tests.support import make_project

LAUNCHER = """\
#!{python}
# Stands for the command line: `run` measures one server and gives way, `run --resume` measures the others.
import json, pathlib, sys
arguments = sys.argv[1:]
out = pathlib.Path(arguments[arguments.index("--out") + 1])
root = pathlib.Path(__file__).parent
(root / "log").open("a").write(" ".join(arguments).replace(str(root), "") + "\\n")
whole = json.loads((root / "whole.json").read_text())
if "--resume" in arguments:
    if (root / "moved").exists():
        print("cannot be resumed: it was started in another environment; start a new run", file=sys.stderr)
        sys.exit(2)
    path = pathlib.Path(arguments[arguments.index("--resume") + 1])
    known = json.loads(path.read_text())["trials"]
else:
    path = out / "records" / (whole["id"] + ".json")
    known = []
path.parent.mkdir(parents=True, exist_ok=True)
done = len(whole["trials"])
if "--give-way" in arguments and (root / "busy").exists():
    done = len(known) + 1
path.write_text(json.dumps(whole | {{"trials": known + whole["trials"][len(known):done]}}))
print("gave way; continue with `./pushbench run`" if done < len(whole["trials"]) else "measured", file=sys.stderr)
sys.exit(4 if done < len(whole["trials"]) else 0)
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "checkout", alpha="")
    (project.root / "whole.json").write_text(whole().model_dump_json(by_alias=True))
    launcher = project.root / "pushbench"
    launcher.write_text(LAUNCHER.format(python=sys.executable))
    launcher.chmod(0o755)
    (project.root / "busy").touch()
    return project


def play(project: Project, planned: Plan, sitting: int, earlier: Results | None = None) -> Results:
    """Run one job in its own folder."""
    folder = project.root / f"results-{sitting}"
    busy = project.root / "busy"

    def give_way() -> str | None:
        return "a pull request's run 9" if busy.exists() else None

    job = Bench(
        project,
        project.root / f"out-{sitting}",
        planned,
        make_thresholds(project.root / ".."),
        folder,
        None,
        lambda _: None,
        give_way=give_way,
        earlier=earlier,
    )
    job.play()
    return read_results(folder)


def log(project: Project) -> list[str]:
    return (project.root / "log").read_text().splitlines()


@pytest.mark.slow
def test_a_night_gives_way_and_another_job_measures_the_rest_as_one_record(project: Project, tmp_path: Path) -> None:
    first = play(project, night(MEASURE, CONTROL), 1)
    assert [step.outcome for step in first.result.steps] == ["gave-way", "gave-way"]
    assert first.result.outcome == "gave-way"
    assert {step.said for step in first.result.steps} == {"gave way"}
    assert len(first.measured[1].record.trials) == 1

    (project.root / "busy").unlink()
    earlier = taken_up(left_by(first, tmp_path / "artifact"))
    assert [step.outcome for step in earlier.result.steps] == ["unfinished", "unfinished"]
    second = play(project, earlier.result.plan, 2, earlier)
    assert [step.outcome for step in second.result.steps] == ["pass", "pass"]
    assert second.measured[1].record == whole()
    run_, resumed, control = log(project)
    assert run_.startswith("run --suite whiteboard --profile full --give-way --wait ")
    assert resumed.startswith("run --resume /out-2/step-1/records/")
    assert control.startswith(f"{' '.join(OF_CONTROL)} --wait --driver"), "a control gives way to nothing"


def test_a_night_that_builds_its_control_apart_goes_on_as_well(project: Project, tmp_path: Path) -> None:
    apart = [*OF_CONTROL[:2], "--fault", "rebuilt", *OF_CONTROL[2:]]
    first = play(project, night(MEASURE, CONTROL.model_copy(update={"arguments": apart})), 1)
    (project.root / "busy").unlink()
    earlier = taken_up(left_by(first, tmp_path / "artifact"))
    assert earlier.result.plan.steps[1].arguments == apart


def test_what_gave_way_goes_on_without_its_comparison(project: Project, tmp_path: Path) -> None:
    base = "b" * 40
    compare = Step(kind="compare", arguments=["compare", "--base", base], servers=["other"], why="x")
    push = night(MEASURE, compare).model_copy(update={"base": base})
    first = play(project, push, 1)
    assert [step.step.kind for step in first.result.steps] == ["run"]
    assert (first.result.plan.base, first.result.plan.images) == (None, sorted(MEASURE.servers))
    assert first.result.plan.notes[-1] == "gave way, so servers that the history cannot judge are not compared"
    (project.root / "busy").unlink()
    second = play(project, taken_up(left_by(first, tmp_path / "artifact")).result.plan, 2)
    assert [step.outcome for step in second.result.steps] == ["pass"]


def test_a_comparison_of_a_push_gives_way_to_nothing(project: Project) -> None:
    compare = Step(kind="compare", arguments=["compare"], servers=["alpha"], why="x")
    control_first = night(CONTROL, compare)
    assert [step.outcome for step in play(project, control_first, 1).result.steps] == ["pass", "pass"]


@pytest.mark.slow
def test_each_job_makes_progress_and_what_earlier_ones_measured_is_kept(project: Project) -> None:
    first = play(project, night(MEASURE, CONTROL), 1)
    second = play(project, night(MEASURE, CONTROL), 2, _unfinished(first))
    assert [len(each.measured[1].record.trials) for each in (first, second)] == [1, 2]
    assert second.result.steps[0].seconds > first.result.steps[0].seconds
    third = play(project, night(MEASURE, CONTROL), 3, _unfinished(second))
    assert [step.outcome for step in third.result.steps] == ["pass", "gave-way"], "it gives way between steps, too"
    assert third.result.outcome == "gave-way"
    last = play(project, night(MEASURE, CONTROL), 4, _unfinished(third))
    assert [step.outcome for step in last.result.steps] == ["pass", "pass"], "begun, though a pull request waits"
    assert last.measured[1] == third.measured[1]
    assert len(log(project)) == 4


def test_a_night_that_failed_a_limit_before_it_gave_way_goes_on_all_the_same() -> None:
    assert make_result("fail", "gave-way").outcome == "gave-way", "it has no verdict before its last step"


def test_what_cannot_be_resumed_is_measured_from_its_start_and_that_is_said(project: Project) -> None:
    first = play(project, night(MEASURE), 1)
    (project.root / "moved").touch()
    second = play(project, night(MEASURE), 2, _unfinished(first))
    assert second.result.outcome == "pass"
    assert len(second.measured[1].record.trials) == len(SERVERS), "it gives way no more, or it might never end"
    [note] = second.result.plan.notes
    assert note.startswith("step 1 is measured again from the start: cannot be resumed: it was started in another")


def _unfinished(found: Results) -> Results:
    steps = [
        each.model_copy(update={"outcome": "unfinished"}) if each.outcome == "gave-way" else each
        for each in found.result.steps
    ]
    return Results(Result(plan=found.result.plan, steps=steps), found.measured)


@pytest.mark.parametrize("title", ["bench night", f"bench continues 17 at {HEAD}"])
def test_a_night_and_what_goes_on_with_one_can_be_taken_up(tmp_path: Path, title: str) -> None:
    first = "17" if "17" in title else str(RUN)
    double = left_by(partial(), tmp_path / "artifact", display_title=title)
    assert taken_up(double, inputs(first=first)).measured[1].record.servers


def test_what_the_form_leaves_unchecked_is_no_input(tmp_path: Path) -> None:
    assert taken_up(left_by(partial(), tmp_path / "artifact"), inputs(night="false")).measured


def test_a_push_can_be_taken_up(tmp_path: Path) -> None:
    double = left_by(partial(night(MEASURE, event="push")), tmp_path / "artifact", event="push", display_title="Faster")
    assert taken_up(double).result.plan.event == "push"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"path": ".github/workflows/ci.yml"}, "not of .github/workflows/bench.yml"),
        ({"head_repository": FORK}, "comes from another repository"),
        ({"head_repository": None}, "comes from another repository"),
        ({"head_branch": "mine"}, "comes from another branch than main"),
        ({"event": "pull_request"}, "neither a push nor a night"),
        ({"display_title": "bench on demand"}, "neither a push nor a night"),
        ({"display_title": f"bench continues 17 at {HEAD} "}, "neither a push nor a night"),
        ({"head_sha": "e" * 40}, "measures eeeeeeeeeeee"),
    ],
)
def test_a_run_that_is_no_night_or_push_of_the_default_branch_is_not_taken_up(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError, match=said):
        taken_up(left_by(partial(), tmp_path / "artifact", **changed))


@pytest.mark.parametrize("given", [{"head": "e" * 40}, {"first": "1"}])
def test_inputs_that_contradict_the_run_are_refused(tmp_path: Path, given: dict[str, str]) -> None:
    with pytest.raises(UserError, match="set the inputs first and head accordingly"):
        taken_up(left_by(partial(), tmp_path / "artifact"), inputs(**given))


@pytest.mark.parametrize("given", [{"pull_request": "7"}, {"servers": "node-ws"}, {"rounds": "2"}, {"night": "true"}])
def test_a_continuation_is_nothing_else_as_well(tmp_path: Path, given: dict[str, str]) -> None:
    with pytest.raises(UserError, match=f"takes no {next(iter(given))}"):
        taken_up(left_by(partial(), tmp_path / "artifact"), inputs(**given))


def test_a_run_that_measured_everything_is_not_taken_up(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="did not give way"):
        taken_up(left_by(partial(outcome="inconclusive"), tmp_path / "artifact"))


STRANGE = {"kind": "run", "servers": ["node-ws"], "why": "x"}


def _of_some(*servers: str) -> Step:
    """The step `MEASURE` with these servers named in its arguments."""
    return MEASURE.model_copy(update={"arguments": [*MEASURE.arguments, "--servers", ",".join(servers)]})


@pytest.mark.parametrize(
    ("forged", "what"),
    [
        (night(Step.model_validate({**STRANGE, "arguments": ["run", "--out", "/"]})), "steps, images, records"),
        (
            night(Step.model_validate({**STRANGE, "arguments": [*MEASURE.arguments, "--parameter", "x=1"]})),
            "steps, images, records",
        ),
        (night(Step.model_validate({**MEASURE.model_dump(), "kind": "compare"})), "steps"),
        (night(Step.model_validate({**MEASURE.model_dump(), "servers": ["--x"]}), images=["--x"]), "steps"),
        (night(MEASURE, sha="e" * 40), "commit, records"),
        (night(MEASURE, event="push"), "event"),
        (night(MEASURE, event="workflow_dispatch"), "event"),
        (night(MEASURE, untrusted=True), "base"),
        (night(MEASURE, base="b" * 40), "base"),
        (night(MEASURE, pull_request=7), "base"),
        (night(MEASURE, driver="x"), "driver"),
        (night(MEASURE, images=["node-ws", "other"]), "images"),
        (night(MEASURE, reduced=["other"]), "reduced"),
        (night(_of_some("fastapi", "--x")), "steps, records"),
        (night(_of_some("fastapi")), "records"),
    ],
)
def test_a_forged_plan_is_refused(tmp_path: Path, forged: Plan, what: str) -> None:
    with pytest.raises(UserError, match=f"does not fit a push or a night: {what}$"):
        taken_up(left_by(partial(forged), tmp_path / "artifact"))


def test_a_night_with_two_profiles_can_be_taken_up(tmp_path: Path) -> None:
    planned = night(_of_some(*SERVERS), CONTROL, reduced=[SERVERS[0]])
    found = taken_up(left_by(partial(planned), tmp_path / "artifact"))
    assert found.result.plan == planned


def test_a_record_of_another_commit_or_profile_is_refused(tmp_path: Path) -> None:
    for changed in ({"commit": None}, {"profile": "smoke"}):
        record = whole().model_copy(update=changed)
        with pytest.raises(UserError, match="a push or a night: records"):
            taken_up(left_by(partial(record=record), tmp_path / "artifact"))


def _cut(content: bytes) -> bytes:
    return content[:-7]


@pytest.mark.parametrize("spoil", [_cut, lambda _: b"", lambda _: zipped({"result.json": b"[]"})])
def test_what_is_no_result_is_refused_with_a_sentence(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    double = left_by(partial(), tmp_path / "artifact")
    double.artifacts["results"] = spoil(double.artifacts["results"])
    with pytest.raises(UserError, match="left no results to continue from: "):
        taken_up(double)


def test_the_run_that_goes_on_is_started_with_the_first_run_and_the_commit() -> None:
    double = Double(permissions={"actions": "write"})
    with double.github() as github:
        start(github, 8, night(MEASURE), Inputs())
        start(github, 9, night(MEASURE), inputs(first="8"))
    expected: list[Mapping[str, str]] = [
        {"continue": "8", "first": "8", "head": HEAD},
        {"continue": "9", "first": "8", "head": HEAD},
    ]
    assert double.dispatched == [("bench.yml", each) for each in expected]


@pytest.mark.slow
def test_the_commands_of_the_workflow_hand_a_night_from_one_run_to_the_next(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUSHBENCH_ROOT", str(project.root))
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    output = tmp_path / "output"
    monkeypatch.setenv("GITHUB_OUTPUT", str(output))
    facts = {
        "GITHUB_TOKEN": "ghs_token",
        "GITHUB_REF_NAME": "main",
        "GITHUB_RUN_ID": "5",
        "PLAN": as_json(night(MEASURE)),
    }
    payload = {"inputs": {"continue": str(RUN), "first": str(RUN), "head": HEAD}}
    for name, value in (facts | dict(environment(tmp_path, "workflow_dispatch", payload))).items():
        monkeypatch.setenv(name, value)
    assert call("bench") == 0, "to give way is no failure"
    assert "gave-way" in output.read_text()

    double = left_by(read_results(project.out / "ci" / "results"), tmp_path / "artifact")
    with double.served() as url:
        monkeypatch.setenv("GITHUB_API_URL", url)
        assert call("plan", "--json") == 0
    said = output.read_text()
    assert f"\n{HEAD}\n" in said, "the checkouts follow the first run's commit"
    assert "\nout/earlier\n" in said
    earlier = tmp_path / "earlier"
    (project.out / "ci" / "results").rename(earlier)
    (project.root / "busy").unlink()
    call("bench", "--earlier", str(earlier))
    assert read_results(project.out / "ci" / "results").measured[1].record == whole()

    monkeypatch.setenv("PLAN", as_json(night(MEASURE, sha="e" * 40)))
    with pytest.raises(UserError, match="the earlier results are of another plan"):
        app(["ci", "bench", "--earlier", str(earlier)])


def as_json(planned: Plan) -> str:
    return planned.model_dump_json(by_alias=True)


def call(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        app(["ci", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code
