"""The real k6 operator plays the TestRun as documented in docs/containers.md, and `merge` adds up its logs."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cluster.at_hand import TOOL, Cluster, await_that

CHECKOUT = Path(__file__).parents[3]

pytestmark = [
    pytest.mark.cluster,
    pytest.mark.slow,
    pytest.mark.skipif(not TOOL, reason="needs CLUSTER: `current`, or a program that starts a cluster"),
]


def documented() -> list[dict[str, Any]]:
    """The documented ConfigMap and TestRun."""
    page = (CHECKOUT / "docs/containers.md").read_text()
    block = re.search(r"^```yaml\n(apiVersion: v1\n.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert block
    return list(yaml.safe_load_all(block[1]))


def server(image: str, pull: str) -> list[dict[str, Any]]:
    labels = {"app": "my-server"}
    container = {
        "name": "server",
        "image": image,
        "imagePullPolicy": pull,
        "env": [{"name": "PORT", "value": "8080"}],
        "readinessProbe": {"httpGet": {"path": "/healthz", "port": 8080}, "periodSeconds": 1},
    }
    template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
    return [
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "my-server"},
            "spec": {"selector": {"matchLabels": labels}, "template": template},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "my-server"},
            "spec": {"selector": labels, "ports": [{"port": 8080}]},
        },
    ]


def applied(*objects: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "List", "items": list(objects)}


def test_the_documented_testrun_is_played_and_merged(cluster: Cluster, images: dict[str, str], tmp_path: Path) -> None:
    with cluster.namespace(f"push-test-{secrets.token_hex(4)}") as kubectl:
        kubectl("apply", "--filename", "-", given=applied(*server(images["server"], cluster.pull)))
        kubectl("wait", "deployment/my-server", "--for=condition=Available", "--timeout=60s")
        address = kubectl("get", "service", "my-server", "--output", "jsonpath={.spec.clusterIP}")
        load, testrun = documented()
        # The address is for clusters without DNS; the images are those of this checkout.
        load["data"]["load.json"] = load["data"]["load.json"].replace("my-server", address)
        testrun["spec"]["runner"] |= {"image": images["k6"], "imagePullPolicy": cluster.pull}
        kubectl("apply", "--filename", "-", given=applied(load, testrun))

        def ended() -> bool:
            stage = kubectl("get", "testrun", "push", "--output", "jsonpath={.status.stage}")
            assert stage != "error", kubectl("logs", "job/push-initializer")
            return stage == "finished"

        await_that("the TestRun finished", ended)
        logs = kubectl("logs", "--selector", "k6_cr=push,runner=true", "--tail=-1")
        runners = json.loads(kubectl("get", "pods", "--selector", "runner=true", "--output", "json"))["items"]

    assert len({pod["spec"]["nodeName"] for pod in runners}) == 2
    (tmp_path / "push").write_text(logs)
    command = [str(CHECKOUT / "pushbench"), "merge", str(tmp_path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    assert shown.returncode == 0, shown.stderr + logs
    assert "2 generators" in shown.stdout
    said = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True).stdout
    [stage] = json.loads(said)["stages"]
    assert stage["clients"]["target"] == stage["clients"]["members"] == 40
    assert stage["messages"]["due"] == stage["messages"]["sent"] > 0
    # Each message goes to a board of ten, the sender included.
    assert stage["receipts"]["expected"] == stage["receipts"]["received"] == 10 * stage["messages"]["due"]
    assert (stage["receipts"]["lost"], stage["receipts"]["duplicate"], stage["receipts"]["corrupt"]) == (0, 0, 0)
