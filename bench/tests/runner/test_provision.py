"""Provisioning a copy of this machine: what it creates, what a second run changes, and what it refuses."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from runner_policy import read_settings
from tests.runner.provisioned_copy import APP_KEY, ARCH, RUNNER, TOKEN, Copy, archive_name
from tests.runner.provisioned_copy import copy as copy  # noqa: PLC0414 - a fixture
from tests.runner.provisioned_copy import stand_ins as stand_ins  # noqa: PLC0414 - a fixture

pytestmark = pytest.mark.slow
ARGUMENTS = ("--repository", "me/pushbench", "--token-file", "/stand-ins/token", "--allow-ssh", "192.0.2.0/24")


def words(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The first word of each step's line."""
    return [line.split()[0] for line in done.stdout.splitlines() if line.startswith(("ok ", "changed ", "would "))]


def test_a_second_run_changes_nothing_and_says_so(copy: Copy) -> None:
    first = copy.provision(*ARGUMENTS)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "changed  Actions runner" in first.stdout
    before, said = copy.files(), copy.log
    second = copy.provision(*ARGUMENTS)
    assert (second.returncode, second.stderr) == (0, ""), second.stdout
    assert set(words(second)) == {"ok"}, second.stdout
    assert second.stdout.endswith("\n0 changed\n")
    assert copy.files() == before
    assert copy.log == said
    assert set(words(copy.provision(*ARGUMENTS[:2], "--allow-ssh", "192.0.2.0/24"))) == {"ok"}  # the token is there


def test_what_it_makes(copy: Copy) -> None:
    assert copy.provision(*ARGUMENTS).returncode == 0
    look = copy.run("stat", "-c", "%a %U:%G", "/etc/pushbench-runner/credential", "/etc/pushbench-runner/settings")
    assert look.stdout.splitlines() == ["600 root:root", "644 root:root"]
    assert copy.text("/etc/pushbench-runner/credential") == f"{TOKEN}\n"
    assert "repository=me/pushbench\n" in copy.text("/etc/pushbench-runner/settings")
    folders = ("/var/lib/pushbench-runner", "/usr/local/lib/pushbench-runner")
    tree = copy.run("find", *folders, "-perm", "/022", "-o", "!", "-user", "root")
    assert tree.stdout == ""
    for user in ("pushbench", "pushbench-github", "pushbench-renew"):
        assert copy.run("id", "--name", "--groups", user).stdout.split() == [user]  # no docker, no sudo
        assert copy.text("/etc/passwd").split(f"{user}:")[1].split("\n")[0].endswith("/usr/sbin/nologin")
    for unit in ("pushbench-runner.service", "pushbench-firewall.service", "pushbench-renew.timer"):
        assert copy.run("/usr/bin/systemctl", "is-enabled", unit).stdout == "enabled\n"
    units = [f"pushbench-{name}" for name in ("runner.service", "job.service", "renew.service", "renew.timer")]
    verified = copy.run("systemd-analyze", "verify", "--man=no", *units, "pushbench-github@admit.service")
    assert "pushbench" not in verified.stderr
    assert copy.run("stat", "-c", "%a %U", "/var/lib/pushbench-renewal").stdout == "700 pushbench-renew\n"


def test_an_app_takes_the_tokens_place_and_the_group_is_remembered(copy: Copy) -> None:
    app = ("--app-id", "123456", "--app-key-file", "/stand-ins/app.pem", "--runner-group", "7", "--no-ssh")
    assert copy.provision("--repository", "me/pushbench", *app).returncode == 0
    assert copy.text("/etc/pushbench-runner/credential") == APP_KEY
    settings = copy.text("/etc/pushbench-runner/settings")
    assert settings.endswith("\nrunner_group=7\napp_id=123456\n")
    (copy.stand_ins / "settings").write_text(settings)
    assert read_settings(copy.stand_ins / "settings").group == 7
    again = copy.provision("--repository", "me/pushbench", *app[:2], *app[4:])  # the key is already there
    assert (again.returncode, set(words(again))) == (0, {"ok"})
    forgotten = copy.provision("--repository", "me/pushbench", "--no-ssh")
    assert "the key that is here is an App's" in forgotten.stderr
    assert copy.provision(*ARGUMENTS).returncode == 0
    assert copy.text("/etc/pushbench-runner/credential") == f"{TOKEN}\n"
    assert copy.text("/etc/pushbench-runner/settings").endswith("\napp_id=\n")


def test_a_runner_that_renewed_itself_stays(copy: Copy) -> None:
    assert copy.provision(*ARGUMENTS).returncode == 0
    copy.run("sh", "-c", f"echo 9.9.9 {'0' * 64} > /var/lib/pushbench-runner/version; : > /stand-ins/log")
    again = copy.provision(*ARGUMENTS)
    assert (again.returncode, set(words(again))) == (0, {"ok"}), again.stdout
    assert copy.log == ""
    assert copy.text("/var/lib/pushbench-runner/version").startswith("9.9.9 ")


def test_only_the_named_networks_reach_ssh_and_nothing_else_comes_in(copy: Copy) -> None:
    if not shutil.which("nft"):
        pytest.skip("needs nft")
    assert copy.provision(*ARGUMENTS, "--allow-ssh", "2001:db8::/32").returncode == 0
    rules = copy.run("nft", "list", "chain", "inet", "pushbench_runner", "input").stdout
    assert "policy drop" in rules
    opened = [line.strip() for line in rules.splitlines() if "dport" in line and "udp" not in line]
    assert opened == ["ip saddr 192.0.2.0/24 tcp dport 22 accept", "ip6 saddr 2001:db8::/32 tcp dport 22 accept"]
    assert copy.provision(*ARGUMENTS[:2], "--no-ssh").returncode == 0
    assert "dport 22" not in copy.run("nft", "list", "ruleset").stdout


def test_a_run_that_failed_in_the_middle_is_gone_on_with(copy: Copy) -> None:
    copy.run("touch", "/stand-ins/offline")
    failed = copy.provision(*ARGUMENTS)
    assert failed.returncode != 0
    assert "Could not resolve host" in failed.stderr
    assert copy.run("test", "-e", "/var/lib/pushbench-runner/version").returncode != 0
    copy.run("rm", "/stand-ins/offline")
    again = copy.provision(*ARGUMENTS)
    assert again.returncode == 0, again.stderr
    assert "ok       users" in again.stdout
    assert "changed  runner: running" in again.stdout
    assert set(words(copy.provision(*ARGUMENTS))) == {"ok"}


def test_what_was_written_but_not_applied_is_applied_by_the_next_run(copy: Copy) -> None:
    copy.run("touch", "/stand-ins/failing")
    assert copy.provision(*ARGUMENTS).returncode != 0
    assert copy.run("test", "-s", "/etc/sysctl.d/90-pushbench-runner.conf").returncode == 0
    copy.run("sh", "-c", "rm /stand-ins/failing; : >/stand-ins/log")
    assert copy.provision(*ARGUMENTS).returncode == 0
    assert "sysctl --quiet --load /etc/sysctl.d/90-pushbench-runner.conf" in copy.log


def test_an_archive_with_another_checksum_is_refused(copy: Copy) -> None:
    wrong = {f"PUSHBENCH_RUNNER_SHA256_{ARCH}": "0" * 64}
    done = copy.provision(*ARGUMENTS, **wrong)
    assert done.returncode != 0
    assert f"and not the pinned {'0' * 64}" in done.stderr
    assert copy.run("ls", "/var/lib/pushbench-runner").stdout == ""
    assert "pushbench-runner.service" not in copy.log


def test_a_key_with_another_fingerprint_is_refused(copy: Copy) -> None:
    done = copy.provision(*ARGUMENTS, PUSHBENCH_DOCKER_KEY="0" * 40)
    assert done.returncode != 0
    assert "Docker's key is not the pinned" in done.stderr
    assert copy.run("ls", "/etc/apt/keyrings/pushbench-docker.asc").returncode != 0


def test_another_runner_replaces_the_first_and_the_service_is_restarted(copy: Copy) -> None:
    assert copy.provision(*ARGUMENTS).returncode == 0
    copy.run("sh", "-c", f"cd /stand-ins; cp {archive_name()} actions-runner-linux-{ARCH}-9.9.9.tar.gz; : >log")
    done = copy.provision(*ARGUMENTS, PUSHBENCH_RUNNER_VERSION="9.9.9")
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith("changed")] == [
        "changed  Actions runner",
        "changed  runner: running",
    ]
    assert copy.log == "restart pushbench-runner.service\n"


def test_uninstalling_leaves_nothing(copy: Copy) -> None:
    accounts = {path: copy.text(path) for path in ("/etc/passwd", "/etc/group", "/etc/shadow", "/etc/subuid")}
    packages = copy.run("dpkg-query", "--show").stdout
    before = copy.files()
    assert copy.provision(*ARGUMENTS).returncode == 0
    copy.run("useradd", "--system", "dockremap")  # as the engine does
    done = copy.provision("--uninstall")
    assert done.returncode == 0, done.stdout + done.stderr
    kinds = {path: what[0] for path, what in copy.files().items() if path not in before}
    # Left may be parent folders, whiteouts of the copy's layer, and the files that useradd writes.
    left = {path for path, kind in kinds.items() if kind not in "dc" and not path.startswith("./var/log/")}
    kept_by_useradd = {f"./etc/{name}" for name in ("passwd", "group", "shadow", "gshadow", "subuid", "subgid")}
    assert left <= kept_by_useradd | {f"{path}-" for path in kept_by_useradd} | {"./etc/.pwd.lock"}
    assert not [path for path in kinds if kinds[path] == "d" and ("pushbench" in path or "docker" in path)]
    assert {path: copy.text(path) for path in accounts} == accounts
    assert copy.run("dpkg-query", "--show").stdout == packages
    assert set(words(copy.provision("--uninstall"))) == {"ok"}


def test_looking_first_changes_nothing(copy: Copy) -> None:
    before = copy.files()
    done = copy.provision("--dry-run", *ARGUMENTS)
    assert (done.returncode, done.stderr) == (0, "")
    assert "would be changed  runner: running" in done.stdout
    assert copy.files() == before
    assert copy.log == ""


def test_a_machine_that_measures_is_left_alone(copy: Copy) -> None:
    copy.run("sh", "-c", "mkdir -p /run/pushbench-runner; touch /run/pushbench-runner/busy")
    for arguments in (ARGUMENTS, ("--uninstall",)):
        done = copy.provision(*arguments)
        assert done.returncode != 0
        assert "a job is measuring on this machine" in done.stderr


def test_somebody_elses_engine_is_left_alone(copy: Copy) -> None:
    copy.run("sh", "-c", "mkdir -p /etc/docker; echo '{}' > /etc/docker/daemon.json")
    done = copy.provision(*ARGUMENTS)
    assert done.returncode != 0
    assert "/etc/docker/daemon.json is somebody else's" in done.stderr
    assert copy.text("/etc/docker/daemon.json") == "{}\n"


WRONG = {
    "--repository must be OWNER/NAME": ["--repository", "pushbench"],
    "nobody could log in any more": ["--repository", "me/pushbench", "--token-file", "x"],
    "is no address or network": ["--repository", "me/pushbench", "--token-file", "x", "--allow-ssh", "any; accept"],
    "is no workflow file": ["--repository", "me/pushbench", "--workflow", "../evil.yml"],
    "exclude each other": ["--repository", "a/b", "--token-file", "x", "--no-ssh", "--allow-ssh", "::1"],
    "--fleet Rack 2 is no name": ["--repository", "a/b", "--token-file", "x", "--no-ssh", "--fleet", "Rack 2"],
    "--runner-group default is no number": ["--repository", "a/b", "--token-file", "x", "--runner-group", "default"],
    "--token-file and --app-id exclude each other": ["--repository", "a/b", "--token-file", "x", "--app-id", "1"],
    "--app-key-file wants --app-id": ["--repository", "a/b", "--app-key-file", "x", "--no-ssh"],
    "is no id": ["--repository", "a/b", "--app-key-file", "x", "--app-id", "1 2"],
    "there is no option": ["--repository", "a/b", "--yes"],
    "--branch wants a value": ["--branch"],
}


@pytest.mark.parametrize(("why", "arguments"), WRONG.items(), ids=WRONG.keys())
def test_wrong_arguments_are_named_before_anything_is_done(why: str, arguments: list[str]) -> None:
    done = subprocess.run(
        ["bash", str(RUNNER / "provision.sh"), "--dry-run", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert why in done.stderr
    assert done.stdout == ""


def test_a_version_without_its_checksum_is_refused() -> None:
    arguments = ["--dry-run", "--repository", "me/pushbench", "--token-file", "x", "--no-ssh"]
    done = subprocess.run(
        ["bash", str(RUNNER / "provision.sh"), *arguments],
        env={**os.environ, "PUSHBENCH_RUNNER_VERSION": "2.0.0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "is not set for runner 2.0.0" in done.stderr or "use Debian" in done.stderr
