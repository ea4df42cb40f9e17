"""The stack that shows a run: its compose file has the expected content, and its services start."""

from __future__ import annotations

import json
import os
import subprocess
import urllib.parse
from pathlib import Path

import pytest

from pushbench.foundation.yamlfile import read_yaml
from pushbench.machine.ports import free_port
from tests.stack import (
    COMPOSE,
    DATASOURCE,
    NO_VICTORIA,
    SERVICES,
    STACK,
    compose,
    image_here,
    own_program,
    pinned_image,
)

# --- the compose file ---


@pytest.mark.parametrize("service", sorted(SERVICES))
def test_a_service_is_pinned_confined_watched_and_on_loopback_only(service: str) -> None:
    spec = SERVICES[service]
    variable, tag, _ = pinned_image(service)
    assert variable == f"{service.replace('-', '_').upper()}_IMAGE"
    assert not tag.endswith(":latest")
    assert spec["cap_drop"] == ["ALL"]
    assert spec["read_only"] is True
    assert spec["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "network_mode", "pid", "devices"} & set(spec)
    assert spec["mem_limit"]
    assert spec["pids_limit"]
    assert spec["cpuset"] == "${PUSHBENCH_STACK_CPUS:-}"
    assert spec["healthcheck"]["test"]
    assert all(port.startswith("127.0.0.1:") for port in spec.get("ports", []))


def test_what_is_mounted_is_there_and_volumes_are_declared() -> None:
    declared = set(read_yaml(STACK).data["volumes"])
    for service, spec in SERVICES.items():
        for mount in spec.get("volumes", []):
            source, *rest = mount.split(":")
            if source.startswith("."):
                assert (COMPOSE / source).exists(), mount
                assert rest[-1] == "ro", mount
            elif source.startswith("/"):
                assert service == "cadvisor", f"only cAdvisor looks at the machine: {mount}"
                assert rest[-1] == "ro", mount
            else:
                assert source in declared, mount


def test_what_sees_the_machine_starts_only_when_asked() -> None:
    """Without a profile, `docker compose up` leaves out services that have one."""
    by_default = {name for name, spec in SERVICES.items() if "profiles" not in spec}
    assert by_default == {"victoria-metrics", "grafana", "redis"}
    assert SERVICES["cadvisor"]["profiles"] == ["cadvisor"]
    for service in by_default:
        assert "cadvisor" not in SERVICES[service].get("depends_on", {})
        assert not [mount for mount in SERVICES[service].get("volumes", []) if mount.startswith("/")]


@pytest.mark.slow
def test_the_engine_accepts_the_compose_file() -> None:
    if subprocess.run(["docker", "compose", "version"], capture_output=True, check=False).returncode != 0:
        pytest.skip("docker compose is not installed; the file was checked as YAML")
    done = subprocess.run(
        ["docker", "compose", "--file", str(STACK), "--profile", "*", "config", "--format", "json"],
        env={**os.environ, "PUSHBENCH_STACK_CPUS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    read = json.loads(done.stdout)["services"]
    assert {name: spec["cpuset"] for name, spec in read.items()} == dict.fromkeys(SERVICES, "1")
    assert all(port["host_ip"] == "127.0.0.1" for spec in read.values() for port in spec.get("ports", []))


def test_grafana_reaches_the_store_by_its_name_and_shows_to_viewers_only() -> None:
    url = urllib.parse.urlsplit(DATASOURCE["url"])
    listens = next(flag for flag in SERVICES["victoria-metrics"]["command"] if flag.startswith("-httpListenAddr="))
    assert (url.hostname, f":{url.port}") == ("victoria-metrics", listens.partition("=")[2])
    settings = SERVICES["grafana"]["environment"]
    assert settings["GF_AUTH_ANONYMOUS_ORG_ROLE"] == "Viewer"
    assert settings["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"] == "true"
    provider = read_yaml(COMPOSE / "grafana" / "provisioning" / "dashboards" / "pushbench.yml").data["providers"][0]
    assert f"./grafana/dashboards:{provider['options']['path']}:ro" in SERVICES["grafana"]["volumes"]
    home = Path(settings["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    assert home.parent == Path(provider["options"]["path"])
    assert (COMPOSE / "grafana" / "dashboards" / home.name).exists()


# --- the services themselves ---


@pytest.mark.slow
def test_the_scrape_configuration_is_one() -> None:
    file = COMPOSE / "victoria-metrics" / "scrape.yml"
    if image := image_here("victoria-metrics"):
        [reference] = image.values()
        command = ["docker", "run", "--rm", "--network=none", f"--volume={file}:{file}:ro", reference]
    elif program := own_program():
        command = [program]
    else:
        pytest.skip(NO_VICTORIA)
    checks = ["-dryRun", f"-promscrape.config={file}", "-promscrape.config.strictParse"]
    done = subprocess.run([*command, *checks], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [job["job_name"] for job in read_yaml(file).data["scrape_configs"]] == ["cadvisor"]


@pytest.mark.slow
@pytest.mark.parametrize("service", ["victoria-metrics", "redis"])
def test_a_service_becomes_healthy_in_its_container(service: str) -> None:
    image = image_here(service)
    if not image:
        pytest.skip(f"no engine here has the image of {service}")
    port = free_port()
    project = f"pushbench-test-{port}"
    environment = {**image, "VICTORIA_METRICS_PORT": str(port), "REDIS_PORT": str(port)}
    try:
        compose(project, environment, "up", "--detach", "--wait", "--no-deps", service)
    finally:
        compose(project, environment, "down", "--volumes")
