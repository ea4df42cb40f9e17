"""Objects and decisions of the driver kubernetes; tests/cluster has a real cluster."""

from __future__ import annotations

import json
import os
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from pushbench.catalog.servers import Server, read_catalog, select
from pushbench.drivers import kubernetes, manifests, nodes
from pushbench.drivers.choice import DriverChoice, choose_driver
from pushbench.drivers.driver import Build
from pushbench.drivers.kubectl import Kubectl, digest_of
from pushbench.drivers.kubernetes import ClusterChoice, left_behind
from pushbench.drivers.lanes import in_lane
from pushbench.drivers.manifests import OWNER, Place
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.machine.ownership import boot_id, machine_marker, owner_marker
from tests.support import make_project

SERVICES = yaml.safe_load((Path(__file__).parents[3] / "compose/bench.yml").read_text())["services"]
POLICY = SERVICES["server"]
GONE = "1:1"


def node(name: str, *, ready: str = "True", role: str = "", boot: str = "another", **spec: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": {"pushbench.role": role, "node.kubernetes.io/instance-type": "m7.large"}},
        "spec": spec,
        "status": {
            "conditions": [{"type": "Ready", "status": ready}],
            "capacity": {"cpu": "4", "memory": "8000Ki"},
            "nodeInfo": {
                "architecture": "amd64", "kernelVersion": "6.18.4", "containerRuntimeVersion": "containerd://2.1",
                "bootID": boot,
            },
        },
    }  # fmt: skip


def test_a_server_has_the_policy_of_the_containers() -> None:
    deployment, _, policy = manifests.server("x/y:1", {"MODE": "$(HOME)"}, Place(["node-1"], 3))
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    confined = container["securityContext"]
    assert confined["readOnlyRootFilesystem"] is POLICY["read_only"]
    assert confined["capabilities"]["drop"] == POLICY["cap_drop"]
    assert confined["allowPrivilegeEscalation"] is False
    assert container["resources"]["limits"] == container["resources"]["requests"] == {"cpu": "3000m", "memory": "2Gi"}
    assert POLICY["mem_limit"] == "2g"
    assert pod["automountServiceAccountToken"] is False
    assert container["env"] == [{"name": "MODE", "value": "$$(HOME)"}], "nothing is expanded"
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    assert policy["spec"]["egress"] == [{"to": [{"podSelector": {"matchLabels": {"pushbench.service": "true"}}}]}]


def test_a_meter_is_as_confined_as_the_server_and_sees_its_processes() -> None:
    deployment, _, policy = manifests.server("x/y:1", {}, Place(["node-1"], 3), "x/k6:1")
    pod = deployment["spec"]["template"]["spec"]
    server, meter = pod["containers"]
    assert pod["shareProcessNamespace"] is True
    assert meter["securityContext"] == server["securityContext"]
    assert meter["resources"]["requests"] == meter["resources"]["limits"], "the pod stays Guaranteed"
    assert "env" not in meter, "it knows nothing"
    [rule] = policy["spec"]["ingress"]
    assert [each["port"] for each in rule["ports"]] == [manifests.PORT, manifests.METER_PORT]
    # A process sees the cgroup of another only as the same user, and the policy `restricted` forbids root.
    assert pod["securityContext"] == {"runAsUser": 12345, "runAsGroup": 12345, "runAsNonRoot": True}
    own, *_ = manifests.server("x/y:1", {}, Place(["node-1"], 3), "x/k6:1", user=1001)
    assert own["spec"]["template"]["spec"]["securityContext"]["runAsUser"] == 1001, "the meter's, too"
    assert "runAsUser" not in meter["securityContext"]
    alone = manifests.server("x/y:1", {}, Place(["node-1"], 3))
    assert [each["name"] for each in alone[0]["spec"]["template"]["spec"]["containers"]] == ["server"]
    assert alone[0]["spec"]["template"]["spec"]["shareProcessNamespace"] is False
    assert alone[2]["spec"]["ingress"][0]["ports"] == [{"port": manifests.PORT}]


def test_connections_reach_a_pod_whose_meter_has_ended() -> None:
    redis = manifests.service("redis", "redis:8", SERVICES["redis"], 6379, user=(999, 999), not_on=["node-1"])
    for objects in (manifests.server("x/y:1", {}, Place(["node-1"], 3), "x/k6:1"), redis):
        [service] = [each for each in objects if each["kind"] == "Service"]
        assert service["spec"]["publishNotReadyAddresses"] is True


def test_generators_compare_clocks_with_the_meters_that_there_are() -> None:
    def meters(*addresses: str) -> list[str]:
        _, testrun = manifests.load("x/k6:1", "scenarios/a.js", "{}", 1, not_on=["node-1"], meters=addresses)
        return [each["value"] for each in testrun["spec"]["runner"]["env"] if each["name"] == "PUSH_METERS"]

    assert meters("10.0.0.1:18080", "10.0.0.2:18080") == ["10.0.0.1:18080 10.0.0.2:18080"]
    assert meters() == []


def test_replicas_are_spread_over_the_nodes_for_servers() -> None:
    deployment, _, _ = manifests.server("x/y:1", {}, Place(["a", "b"], 1.5, 4))
    assert deployment["spec"]["replicas"] == 4
    pod = deployment["spec"]["template"]["spec"]
    [spread] = pod["topologySpreadConstraints"]
    assert (spread["maxSkew"], spread["whenUnsatisfiable"]) == (1, "DoNotSchedule")
    assert spread["labelSelector"]["matchLabels"] == deployment["spec"]["selector"]["matchLabels"]
    [term] = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["a", "b"]
    assert pod["containers"][0]["resources"]["limits"]["cpu"] == "1500m"


def test_a_service_has_the_policy_of_the_containers_and_only_the_server_reaches_it() -> None:
    policy = SERVICES["redis"]
    deployment, service, rules = manifests.service("redis", "redis:8", policy, 6379, user=(999, 999), not_on=["node-1"])
    pod = deployment["spec"]["template"]["spec"]
    [container] = pod["containers"]
    assert container["args"] == policy["command"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is policy["read_only"]
    assert container["resources"]["limits"]["memory"] == "1Gi"
    assert policy["mem_limit"] == "1g"
    assert f"{pod['securityContext']['runAsUser']}:{pod['securityContext']['runAsGroup']}" == policy["user"]
    [term] = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert (term["matchExpressions"][0]["operator"], term["matchExpressions"][0]["values"]) == ("NotIn", ["node-1"])
    [rule] = rules["spec"]["ingress"]
    assert rule == {"from": [{"podSelector": {"matchLabels": {"app": "server"}}}], "ports": [{"port": 6379}]}
    assert "egress" not in rules["spec"], "nothing is allowed"
    assert policy["user"] == "999:999"
    assert service["spec"]["selector"] == {"app": "redis"}
    assert pod["shareProcessNamespace"] is False


def test_a_service_with_data_has_a_disk_that_its_user_may_write() -> None:
    for name, folders in (("mysql", ["/var/lib/mysql"]), ("rabbitmq", ["/var/lib/rabbitmq", "/var/log/rabbitmq"])):
        deployment, _, _ = manifests.service(name, "x:1", SERVICES[name], 1, user=(27, 28), not_on=["node-1"])
        pod = deployment["spec"]["template"]["spec"]
        mounts = {each["mountPath"]: each for each in pod["containers"][0]["volumeMounts"]}
        kinds = {each["name"]: each["emptyDir"] for each in pod["volumes"]}
        assert [kinds[mounts[folder]["name"]] for folder in folders] == [{} for _ in folders], "on a disk"
        assert kinds[mounts["/run"]["name"]]["medium"] == "Memory"
        [made] = pod["initContainers"]
        assert made["command"] == ["mkdir", "-p", *(f"/data/{mounts[folder]['subPath']}" for folder in folders)]
        assert pod["securityContext"] == {"runAsUser": 27, "runAsGroup": 28, "runAsNonRoot": True, "fsGroup": 28}
        told = {each["name"]: each["value"] for each in pod["containers"][0]["env"]}
        assert told == SERVICES[name]["environment"]


def test_a_meter_beside_a_service_tells_generators_the_time_and_nobody_else() -> None:
    deployment, _, rules = manifests.service(
        "redis", "redis:8", SERVICES["redis"], 6379, user=(1, 1), not_on=["node-1"], meter="x/k6:1"
    )
    pod = deployment["spec"]["template"]["spec"]
    assert pod["shareProcessNamespace"] is True
    meter = pod["containers"][1]
    assert "-port=6379" in meter["command"]
    _, clocks = rules["spec"]["ingress"]
    assert clocks == {"from": [{"podSelector": {"matchLabels": {"runner": "true"}}}], "ports": [{"port": 18080}]}


def test_a_probe_asks_as_the_server_says_and_only_until_it_is_ready() -> None:
    probes = [("/up", "httpGet", {"path": "/up", "port": 8080}), ("port", "tcpSocket", {"port": 8080})]
    for ready, way, question in probes:
        deployment, *_ = manifests.server("x/y:1", {}, Place(["a"], 1), ready=ready)
        [container] = deployment["spec"]["template"]["spec"]["containers"]
        assert container["startupProbe"][way] == question
        assert not {"readinessProbe", "livenessProbe"} & container.keys(), "nobody asks while it is measured"


def test_runners_are_apart_and_never_beside_the_server() -> None:
    _, testrun = manifests.load("x/k6:1", "scenarios/a.js", "{}", 4, not_on=["node-1"])
    rules = testrun["spec"]["runner"]["affinity"]
    [term] = rules["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["node-1"]}]
    [apart] = rules["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    assert apart["topologyKey"] == "kubernetes.io/hostname"
    assert testrun["spec"]["parallelism"] == 4


def test_only_nodes_that_take_pods_count_and_the_labelled_one_runs_servers() -> None:
    taints = [{"key": "control-plane", "effect": "NoSchedule"}]
    items = [
        node("d"), node("c", role="server"), node("a", ready="False"), node("b", unschedulable=True),
        node("e", taints=taints),
    ]  # fmt: skip
    found = nodes.usable(items)
    assert [each.name for each in found] == ["c", "d"]
    assert [each.name for each in nodes.for_servers(found)] == ["c"]
    assert [each.name for each in nodes.for_servers([found[1]])] == ["d"]
    assert (found[0].model, found[0].server_cpus, found[0].memory_bytes) == ("m7.large", 3, 8_192_000)
    assert found[0].runtime == "containerd 2.1"


def namespace(name: str, owner: str | None, **more: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "annotations": {OWNER: owner} if owner else {}, **more}}


def test_only_what_a_dead_process_of_this_machine_left_is_removed() -> None:
    here = machine_marker()
    found = [
        namespace("left", f"{here}/{GONE}"),
        namespace("running", f"{here}/{owner_marker()}"),
        namespace("elsewhere", f"0123456789ab/{GONE}"),
        namespace("ending", f"{here}/{GONE}", deletionTimestamp="2026-11-23T10:00:00Z"),
        namespace("unmarked", None),
        namespace("odd", "x"),
    ]
    assert left_behind(found, here) == ["left"]


KUBECTL = """#!/bin/sh
case "$*" in
  *"get --raw /version"*) echo '{"major": "1", "minor": "34+"}' ;;
  *"get crd"*) echo "$CRDS" ;;
  *"get --output json nodes"*) cat "$NODES" ;;
  *"get --output json namespace kube-system"*) printf '{"metadata": {"uid": "%s"}}' "${CLUSTER:-cc}" ;;
  *"get --output json daemonsets --all-namespaces"*) printf '{"items": [%s]}' "$DAEMONS" ;;
  *"get --output json namespaces"*) echo '{"items": []}' ;;
  *"config get-contexts --output=name"*) printf 'arn:aws:eks:eu-west-1:123456789012:cluster/x\nstage\n' ;;
  *) echo "Unable to connect to the server" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A checkout, with a fake kubectl on the PATH that has two nodes and an operator."""
    program = tmp_path / "bin" / "kubectl"
    program.parent.mkdir()
    program.write_text(KUBECTL)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "nodes.json").write_text(json.dumps({"items": [node("one"), node("two")]}))
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    monkeypatch.setenv("NODES", str(tmp_path / "nodes.json"))
    monkeypatch.setenv("CRDS", "customresourcedefinition.apiextensions.k8s.io/testruns.k6.io")
    return make_project(tmp_path)


def choose(project: Project, **choice: Any) -> Any:
    return choose_driver(project, [], DriverChoice("kubernetes", cluster=ClusterChoice(**choice)), lambda _: None)


def test_a_cluster_is_described_by_the_servers_node_and_the_network(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = choose(project, generators=1)
    assert driver.engine == "Kubernetes 1.34, containerd 2.1"
    monkeypatch.setenv("DAEMONS", '{"metadata": {"name": "kube-proxy"}}, {"metadata": {"name": "kube-flannel-ds"}}')
    assert choose(project, generators=1).engine == "Kubernetes 1.34, containerd 2.1, Flannel", "runs are kept apart"
    assert driver.facts["cpus"] == 4
    assert driver.facts["kernel"] == "6.18"


def test_a_cluster_has_one_identity_and_is_here_where_a_node_shares_the_kernel(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert choose(project).cluster == choose(project, context="stage").cluster == "cc"
    monkeypatch.setenv("CLUSTER", "dd")
    assert choose(project).cluster == "dd"
    assert not choose(project).here
    Path(os.environ["NODES"]).write_text(json.dumps({"items": [node("one"), node("two", boot=boot_id())]}))
    assert choose(project).here


def with_spec(**spec: Any) -> Server:
    [server] = select(read_catalog(Project.current().servers), ["node-ws"])
    return replace(server, spec=server.spec.model_copy(update=spec))


def test_a_server_is_skipped_for_a_service_or_nodes_that_lack(project: Project) -> None:
    driver = choose(project, generators=1)
    assert driver.lacks(with_spec(services=["redis"], replicas=3)) is None
    both = [node("one", role="server"), node("two", role="server")]
    Path(os.environ["NODES"]).write_text(json.dumps({"items": both}))
    assert choose(project, generators=1).lacks(with_spec()) is None, "one of the two is free"
    assert choose(project).lacks(with_spec(replicas=2)) == "its 2 replicas leave 0 nodes for 1 generators"


def test_a_cluster_without_the_operator_is_told_how_to_install_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CRDS", "")
    with pytest.raises(UserError, match=r"no k6 operator.*`kubectl apply --server-side -f https://\S+` installs it"):
        choose(project)


def test_too_few_nodes_are_refused_before_anything_is_made(project: Project) -> None:
    with pytest.raises(UserError, match="has 2 nodes that accept pods: 3 nodes are needed"):
        choose(project, generators=2)


@pytest.mark.parametrize("prefix", ["", "Upper", "a_b", "-a", "x" * 41])
def test_a_prefix_that_no_namespace_can_have_is_refused(project: Project, prefix: str) -> None:
    with pytest.raises(UserError, match="--namespace-prefix"):
        choose(project, prefix=prefix)


def test_rules_are_checked_where_this_machine_reaches_all_pods_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def reached(known: str, *pods: str) -> str:
        monkeypatch.setattr(kubernetes, "first_reached", lambda tried, _: known if known in tried else None)
        return kubernetes._reached("service", [{"status": {"podIP": pod}} for pod in pods])

    assert reached("service", "one", "two") == "http://service:8080"
    assert reached("one", "one") == "http://one:8080"
    for known, pods in (("one", ["one", "two"]), ("none", ["one"])):
        with pytest.raises(UserError, match=r"kubectl's forwarding hides slow clients"):
            reached(known, *pods)


def test_a_server_whose_rules_need_the_content_of_an_ended_service_is_not_verified(project: Project) -> None:
    driver = in_lane(choose(project), 0)
    build = Build("x", "x:1")
    with (
        pytest.raises(UserError, match="stop mysql and then read its content"),
        driver.running(with_spec(services=["redis", "mysql"]), build),
    ):
        pass


def test_the_context_of_a_record_is_found_by_its_digest(project: Project) -> None:
    account = "arn:aws:eks:eu-west-1:123456789012:cluster/x"
    kept = digest_of(account)
    assert "123456789012" not in kept
    assert Kubectl.find(kept).options == ["--context", account]
    assert Kubectl.find("stage").options == ["--context", "stage"]
    assert not Kubectl.find(None).options
    with pytest.raises(UserError, match="no context with the digest 00000000"):
        Kubectl.find("digest:00000000")


def test_a_cluster_that_does_not_answer_is_one_sentence(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NODES", "/none")
    with pytest.raises(UserError, match="the cluster does not answer"):
        choose(project)
