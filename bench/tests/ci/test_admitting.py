"""Code of strangers is built only on GitHub's machines."""

from __future__ import annotations

import re
from typing import Any

import pytest

from pushbench.ci.admitting import artifact_name, require_admitted
from pushbench.foundation.errors import UserError
from tests.ci.events import REPOSITORY, pull_request, push

DEPENDABOT = pull_request(user={"login": "dependabot[bot]"})
GONE = pull_request(head={"sha": "a" * 40, "repo": None})


@pytest.mark.parametrize(
    "label", ["self-hosted", "pushbench", "ubuntu-24.04-16-cores", "ubuntu-slim", "x ubuntu-24.04", ""]
)
@pytest.mark.parametrize("payload", [pull_request(fork=True), DEPENDABOT, GONE, {"pull_request": {}}])
def test_a_stranger_is_refused_on_another_machine(payload: dict[str, Any], label: str) -> None:
    with pytest.raises(UserError, match=r"not measured: .* not a GitHub-hosted machine; leave out runs-on"):
        require_admitted(REPOSITORY, payload, label)


@pytest.mark.parametrize("label", ["ubuntu-24.04", "ubuntu-latest", "ubuntu-24.04-arm"])
@pytest.mark.parametrize("payload", [pull_request(fork=True), DEPENDABOT, push()])
def test_everybody_is_measured_on_a_hosted_machine(payload: dict[str, Any], label: str) -> None:
    require_admitted(REPOSITORY, payload, label)


@pytest.mark.parametrize("payload", [pull_request(), push(), {"schedule": "0 0 * * *"}])
def test_people_with_write_access_choose_the_machine(payload: dict[str, Any]) -> None:
    require_admitted(REPOSITORY, payload, "self-hosted")


FOLDERS = ["bench/a", "bench/b", "other/a", "bench-a", 'x"y:<>|*?\r\n\\/a', "bench/ä", "é" * 500, "", "a/b-c", "a-b/c"]


def test_each_folder_has_an_artifact_of_its_own_whose_name_github_takes() -> None:
    names = [artifact_name(folder) for folder in FOLDERS]
    assert len(set(names)) == len(FOLDERS)
    assert all(re.fullmatch(r"pushbench-results-[A-Za-z0-9-]{1,80}", name) for name in names)
    assert artifact_name("bench/my-server") == artifact_name("bench/my-server/")
    assert artifact_name("bench/my-server").startswith("pushbench-results-my-server-")
