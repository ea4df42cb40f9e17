"""The machine registers one runner at GitHub, for one job, with the labels that the workflow asks for."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import runner_api
import runner_github
from pushbench.foundation.yamlfile import read_yaml
from tests.runner.runner_double import GENERATE, PREFIX, RUNNERS, TOKEN, Answer, Api, ask, jit, serving

WORKFLOW = Path(__file__).parents[3] / ".github" / "workflows" / "bench.yml"


@pytest.fixture
def api() -> Iterator[Api]:
    with serving() as server:
        yield server


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner_api, "PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(runner_api, "PAGE", 3)
    monkeypatch.setattr(runner_github, "PATIENCE_SECONDS", 0.5)


def runner(name: str, status: str, *labels: str) -> dict[str, Any]:
    return {"id": 7, "name": name, "status": status, "labels": [{"name": label} for label in labels]}


def test_a_machine_is_registered_for_one_job_with_the_labels_that_the_workflow_asks_for(
    api: Api, tmp_path: Path
) -> None:
    done = ask(api, "register", tmp_path)
    line = "registered for one job as runner 42 with the labels self-hosted, pushbench\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, line, "")
    _, sent, authorization = api.requests[-1]
    asked_for = read_yaml(WORKFLOW).data["jobs"]["bench"]["runs-on"]
    assert set(asked_for) <= set(sent["labels"])
    assert sent == {"name": "pushbench", "runner_group_id": 1, "labels": asked_for, "work_folder": "_work"}
    assert authorization == f"Bearer {TOKEN}"
    for name, text in {"jitconfig": "Zm9yIG9uZSBqb2I=", "runner": "42"}.items():
        assert (tmp_path / name).read_text() == text
        assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o600


def test_a_runner_without_a_label_is_not_waited_with(api: Api, tmp_path: Path) -> None:
    api.answers[GENERATE] = [lambda body, headers: jit({**body, "labels": ["pushbench"]}, headers)]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("GitHub registered the runner without the label self-hosted, so that no job would")
    assert not (tmp_path / "jitconfig").exists()


def test_an_organisation_can_put_the_runner_into_a_group_of_its_own(api: Api, tmp_path: Path) -> None:
    assert ask(api, "register", tmp_path, runner_group="7").returncode == 0
    assert api.requests[-1][1]["runner_group_id"] == 7
    refused = ask(api, "register", tmp_path, runner_group="seven")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (1, 1)
    assert "run provision.sh again" in refused.stderr


def test_what_an_earlier_start_left_is_forgotten_and_nothing_else(api: Api, tmp_path: Path) -> None:
    others = [runner("pushbench", "offline", "pushbench"), {**runner("other", "online", "gpu"), "id": 8}]
    api.answers |= {RUNNERS: [(200, {"runners": others})], f"DELETE {PREFIX}/runners/7": [(204, None)]}
    assert ask(api, "register", tmp_path).returncode == 0
    assert [each for each in api.asked if each.startswith("DELETE")] == [f"DELETE {PREFIX}/runners/7"]


@pytest.mark.parametrize("name", ["pushbench", "somebody-elses"])
def test_a_second_machine_with_the_label_is_not_registered(api: Api, tmp_path: Path, name: str) -> None:
    api.answers[RUNNERS] = [(200, {"runners": [runner(name, "online", "pushbench")]})]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert f"the runner '{name}' is online with the label pushbench" in done.stderr
    assert GENERATE not in api.asked


def test_the_machines_of_a_fleet_share_the_label_and_have_names_of_their_own(api: Api, tmp_path: Path) -> None:
    others = [runner("pushbench-b", "online", "pushbench"), {**runner("pushbench-c", "offline", "pushbench"), "id": 8}]
    api.answers[RUNNERS] = [(200, {"runners": others})]
    assert ask(api, "register", tmp_path, name="pushbench-a").returncode == 0
    assert api.requests[-1][1]["name"] == "pushbench-a"
    assert not [each for each in api.asked if each.startswith("DELETE")], "an offline one is another machine's"


@pytest.mark.parametrize("name", ["pushbench-a", "pushbench", "somebody-elses"])
def test_a_machine_of_a_fleet_goes_on_beside_no_other_one(api: Api, tmp_path: Path, name: str) -> None:
    api.answers[RUNNERS] = [(200, {"runners": [runner(name, "online", "pushbench")]})]
    done = ask(api, "register", tmp_path, name="pushbench-a")
    assert (done.returncode, GENERATE in api.asked) == (1, False)
    assert "two machines must not share the label, unless each has a --fleet of its own" in done.stderr


@pytest.mark.parametrize("name", ["", "other", "pushbench-", "pushbench-A", "pushbench-a b", "pushbench-" + "x" * 50])
def test_a_name_that_is_no_fleet_s_is_refused(api: Api, tmp_path: Path, name: str) -> None:
    done = ask(api, "register", tmp_path, name=name)
    assert done.returncode == 1
    assert "run provision.sh again" in done.stderr


def test_a_runner_that_still_counts_as_busy_is_forgotten_a_moment_later(api: Api, tmp_path: Path) -> None:
    busy = {"message": 'Runner "pushbench" is currently running a job and cannot be deleted.'}
    api.answers |= {
        RUNNERS: [(200, {"runners": [runner("pushbench", "offline", "pushbench")]})],
        f"DELETE {PREFIX}/runners/7": [(422, busy), (204, None)],
    }
    assert ask(api, "register", tmp_path).returncode == 0


def test_a_runner_without_a_job_is_retired_and_one_with_a_job_is_not(api: Api, tmp_path: Path) -> None:
    (tmp_path / "runner").write_text("42")
    api.answers[f"DELETE {PREFIX}/runners/42"] = [(204, None), (422, {"message": "is currently running a job"})]
    done = ask(api, "retire", tmp_path)
    assert (done.returncode, done.stdout) == (0, "runner 42 is retired: it had no job\n")
    done = ask(api, "retire", tmp_path)
    assert (done.returncode, done.stderr) == (1, "runner 42 has been given a job; it is retired after it\n")


def test_a_name_that_is_taken_meanwhile_is_looked_at_again(api: Api, tmp_path: Path) -> None:
    api.answers[GENERATE] = [(409, {"message": "Already exists"}), jit]
    assert ask(api, "register", tmp_path).returncode == 0
    assert api.asked.count(GENERATE) == 2


@pytest.mark.parametrize(
    "answer", [(502, None), (429, None, {"Retry-After": "0"}), (403, None, {"X-RateLimit-Remaining": "0"})]
)
def test_what_passes_is_asked_again(api: Api, tmp_path: Path, answer: Answer) -> None:
    api.answers[GENERATE] = [answer, jit]
    assert ask(api, "register", tmp_path).returncode == 0


def test_an_expired_token_is_named_with_what_to_do(api: Api, tmp_path: Path) -> None:
    api.answers[RUNNERS] = [(401, {"message": "Bad credentials"})]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "GitHub does not accept the token (GET /repos/me/pushbench/actions/runners: HTTP 401): it expired or was "
        "revoked; make a new one for me/pushbench with Administration: write and Actions: read, and run provision.sh "
        "again with --token-file\n"
    )


@pytest.mark.parametrize("status", [403, 404])
def test_a_token_that_may_not_is_named_as_the_reason(api: Api, tmp_path: Path, status: int) -> None:
    api.answers[GENERATE] = [(status, {"message": "Resource not accessible by personal access token"})]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert "does it have Administration: write and Actions: read, is 1 a runner group?\n" in done.stderr


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (400, ""),
        (31, ""),
        (29, "notice: the token expires in 29 days, on "),
        (6, "URGENT: the token expires in 6 days, on "),
    ],
)
@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S UTC", "%Y-%m-%d %H:%M:%S +0000"])
def test_the_end_of_the_token_is_announced(api: Api, tmp_path: Path, days: int, said: str, form: str) -> None:
    end = datetime.now(UTC) + timedelta(days=days, hours=1)
    headers = {"GitHub-Authentication-Token-Expiration": end.strftime(form)}
    api.answers[RUNNERS] = [(200, {"runners": []}, headers)]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith(said) and bool(said) == bool(done.stderr)
    assert len(done.stderr.splitlines()) == bool(said)


@pytest.mark.parametrize("text", ["", "never", "2026-13-01 00:00:00 UTC", "0001-01-01 00:00:00 +2359", "9" * 500])
def test_an_end_that_cannot_be_read_is_none(api: Api, tmp_path: Path, text: str) -> None:
    api.answers[RUNNERS] = [(200, {"runners": []}, {"GitHub-Authentication-Token-Expiration": text})]
    done = ask(api, "register", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_redirect_does_not_get_the_token(api: Api, tmp_path: Path) -> None:
    elsewhere = f"http://127.0.0.1:{api.server_port}/elsewhere"
    api.answers[GENERATE] = [(307, None, {"Location": elsewhere}), (302, None, {"Location": elsewhere})]
    assert ask(api, "register", tmp_path).returncode == 1
    assert not any("elsewhere" in each for each in api.asked)


def test_without_github_it_gives_up_in_time_and_leaves_no_configuration(api: Api, tmp_path: Path) -> None:
    (tmp_path / "jitconfig").write_text("of yesterday")
    api.answers[GENERATE] = [(503, None)]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert "GitHub gave no usable answer in time" in done.stderr
    assert not (tmp_path / "jitconfig").exists()


@pytest.mark.parametrize(
    "document", [[], {"runner": {}}, {"runner": {"id": 1}}, {"runner": {"id": 1}, "encoded_jit_config": 5}]
)
def test_an_answer_of_another_form_is_an_error_of_one_line(api: Api, tmp_path: Path, document: Any) -> None:
    api.answers[GENERATE] = [(201, document)]
    done = ask(api, "register", tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
