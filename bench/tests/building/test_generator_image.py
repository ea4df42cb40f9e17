"""The k6 image contains the programs that the k6 operator runs in it, and no others: docs/containers.md."""

from __future__ import annotations

import json

import pytest

from pushbench.building.engine import Engine
from pushbench.building.images import generator_image
from pushbench.foundation.project import Project

IMAGE = generator_image(Project.current()).reference()
ENGINE = Engine.find()
CONFINED = ["--network=none", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges"]
OPERATOR_1_5 = (
    'mkdir -p $(dirname /tmp/w.tar) && k6 archive scenarios/{suite}.js -e URL="ws://a" -O /tmp/w.tar && '
    "k6 inspect --execution-requirements /tmp/w.tar 2> /tmp/k6logs ; ! cat /tmp/k6logs | grep 'level=error'"
)
"""the command of its initializer: pkg/resources/jobs/initializer.go of grafana/k6-operator"""
RUNNER = "if [ ! -f /home/k6/scenarios/{suite}.js ]; then exit 1; fi;\nk6 version"

pytestmark = [
    pytest.mark.images,
    pytest.mark.slow,
    pytest.mark.skipif(ENGINE is None, reason="needs a container engine"),
]


def in_image(*arguments: str) -> str:
    assert ENGINE
    assert ENGINE.image(IMAGE), "`make images` builds it"
    return ENGINE.run("run", "--rm", "--pull=never", *CONFINED, *arguments)


@pytest.mark.parametrize("suite", ["whiteboard", "token-stream"])
def test_what_the_operators_initializer_runs_finds_a_scenario(suite: str) -> None:
    said = in_image("--entrypoint=sh", IMAGE, "-c", OPERATOR_1_5.replace("{suite}", suite))
    assert json.loads(said[said.index("{") :])["maxVUs"] == 1


def test_what_the_operators_runner_runs_finds_k6() -> None:
    assert in_image("--entrypoint=sh", IMAGE, "-c", RUNNER.replace("{suite}", "whiteboard")).startswith("k6 v")


def test_nobody_in_it_is_root_or_finds_more_programs() -> None:
    assert in_image(IMAGE, "version").startswith("k6 v")
    with_names = "for each in /bin/* /usr/bin/*; do echo ${each##*/}; done"
    found = in_image("--entrypoint=sh", IMAGE, "-c", with_names).split()
    assert found == ["busybox", "cat", "dirname", "grep", "mkdir", "sh", "k6", "meter"]
    assert ENGINE
    assert ENGINE.run("image", "inspect", "--format", "{{.Config.User}}", IMAGE).strip() == "12345:12345"
