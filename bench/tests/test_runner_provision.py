"""Provisioning, on a copy of this machine: its own file system below a layer that is thrown away, with a network of its
own. Users, packages' states, units, rights and firewall rules are real; downloads and running services are not.
"""

from __future__ import annotations

import hashlib
import io
import os
import platform
import shutil
import subprocess
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from runner_policy import read_settings

pytestmark = pytest.mark.slow
RUNNER = Path(__file__).parents[2] / "compose" / "runner"
ARGUMENTS = ("--repository", "me/pushbench", "--token-file", "/stand-ins/token", "--allow-ssh", "192.0.2.0/24")
TOKEN = "github_pat_0123456789abcdef"
APP_KEY = "-----BEGIN RSA PRIVATE KEY-----\nTm90IGEga2V5\n-----END RSA PRIVATE KEY-----\n"
ARCH = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), "")

ENTER = """\
set -e
mount -t tmpfs tmpfs "$1"
mkdir "$1/upper" "$1/work" "$1/root"
for path in /etc/docker /var/lib/docker /var/lib/containerd /lib/systemd/system/docker.service; do
  mkdir -p "$1/hidden$(realpath -m "$(dirname "$path")")"
  mknod "$1/hidden$(realpath -m "$path")" c 0 0 # the layer's way to say that there is no such file
done
mount -t overlay overlay -o "lowerdir=$1/hidden:/,upperdir=$1/upper,workdir=$1/work" "$1/root"
mount --bind /dev "$1/root/dev"
mount -t tmpfs tmpfs "$1/root/run"
mount -t proc proc "$1/root/proc"
cp -r "$2" "$1/root/runner"
cp -r "$3" "$1/root/stand-ins"
echo ready
exec sleep 600
"""

# Packages are a line in dpkg's own list; docker-ce brings a unit, a start of docker the user of its containers.
APT_GET = """\
#!/usr/bin/python3
import sys
from pathlib import Path
status, unit = Path("/var/lib/dpkg/status"), Path("/usr/lib/systemd/system/docker.service")
verb, names = sys.argv[1], [each for each in sys.argv[2:] if not each.startswith("-")]
entries = [each for each in status.read_text().split("\\n\\n") if each.strip()]
kept = [each for each in entries if each.split("\\n")[0].removeprefix("Package: ") not in names]
if verb == "install":
    kept += [f"Package: {name}\\nStatus: install ok installed\\nArchitecture: all\\nVersion: 1\\n"
             "Maintainer: test\\nDescription: test" for name in names]
    if "docker-ce" in names:
        unit.write_text("[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target\\n")
elif verb == "purge" and "docker-ce" in names:
    unit.unlink()
status.write_text("\\n\\n".join(kept) + "\\n\\n")
"""

CURL = """\
#!/bin/sh
# --output FILE ADDRESS come last
while [ $# -gt 3 ]; do shift; done
[ ! -e /stand-ins/offline ] || { echo "curl: (6) Could not resolve host" >&2; exit 6; }
cp "/stand-ins/$(basename "$3")" "$2"
"""

# What needs no running systemd is done by the real one.
SYSTEMCTL = """\
#!/bin/sh
active=/stand-ins/active; mkdir -p $active
for unit; do :; done
case "$1" in
is-enabled | enable | disable) exec /usr/bin/systemctl "$@" ;;
is-active) [ -e "$active/$unit" ] ;;
stop) rm -f "$active/$unit" ;;
start | restart | reload-or-restart)
  echo "$1 $unit" >> /stand-ins/log
  case "$unit" in
  pushbench-firewall.service) ! command -v nft >/dev/null || nft --file /etc/pushbench-runner/firewall.nft || exit ;;
  docker.service) mkdir -p /var/lib/docker ;;
  esac
  touch "$active/$unit" ;;
daemon-reload) echo "$1" >> /stand-ins/log ;;
*) exit 9 ;;
esac
"""

LOG = '#!/bin/sh\n[ ! -e /stand-ins/failing ] && echo "$(basename "$0") $*" >> /stand-ins/log\n'
APT_MARK = """\
#!/bin/sh
case "$1" in
hold) echo "$2" >> /stand-ins/held ;;
showhold) cat /stand-ins/held 2>/dev/null ;;
esac
"""

# Of nobody: the secret half was thrown away.
FINGERPRINT = "7C80498B9C8365D7E9CE10B929DF8DB6C00ECD53"
KEY = """\
-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawG9kBYJKwYBBAHaRw8BAQdANy8MrSp72y7jviOC89E3Iph9Vz8wwMcLbwfk
gZXfx+G0E3N0YW5kLWluIGZvciBkb2NrZXKIkAQTFggAOBYhBHyASYucg2XX6c4Q
uSnfjbbADs1TBQJrAb2QAhsDBQsJCAcCBhUKCQgLAgQWAgMBAh4BAheAAAoJECnf
jbbADs1TdRoA/1HsRq2NCSd2O2ihfjbCZ9E2/9+qkSZMvR8E2DcGUy5TAQCDRiL1
x+JgdTl3UsNvkDY98JChl6PHRbbvqjgP1YIvAg==
=1Cei
-----END PGP PUBLIC KEY BLOCK-----
"""


@dataclass
class Copy:
    """A machine to provision."""

    pid: int
    layer: Path
    stand_ins: Path

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        inside = {"PATH": "/stand-ins/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/root", "LC_ALL": "C"}
        enter = ["nsenter", "--target", str(self.pid), "--mount", "--net", "chroot", str(self.layer / "root")]
        return subprocess.run(
            [*enter, *command], env={**inside, **environment}, capture_output=True, text=True, check=False, timeout=60
        )

    def provision(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        pins = {f"PUSHBENCH_RUNNER_SHA256_{ARCH}": sha256(self.stand_ins / archive_name())}
        pins |= {"PUSHBENCH_DOCKER_KEY": FINGERPRINT}
        return self.run("bash", "/runner/provision.sh", *arguments, **{**pins, **environment})

    def text(self, path: str) -> str:
        return self.run("cat", path).stdout

    def files(self) -> dict[str, str]:
        """Everything that differs from the machine below, by its path: kind, rights, owner, target, time and size."""
        skipped = "-path ./stand-ins -o -path ./runner -o -path ./tmp -o -path ./var/lib/dpkg/status"
        find = f"find . -mindepth 1 ( {skipped} ) -prune -o -printf".split()
        enter = ["nsenter", "--target", str(self.pid), "--mount", "sh", "-c", 'cd "$1/upper"; shift; exec "$@"', "-"]
        command = [*enter, str(self.layer), *find, "%p %y %m %u:%g %l %T@ %s\n"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return dict(line.split(" ", 1) for line in done.stdout.splitlines())

    @property
    def log(self) -> str:
        return self.text("/stand-ins/log")


def archive_name() -> str:
    pinned = next(line for line in (RUNNER / "pins.sh").read_text().splitlines() if line.startswith("pinned="))
    return f"actions-runner-linux-{ARCH}-{pinned.partition('=')[2]}.tar.gz"


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def stand_ins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Programs and downloads in place of those that need the internet or a running systemd."""
    folder = tmp_path_factory.mktemp("stand-ins")
    (folder / "bin").mkdir()
    programs = {"apt-get": APT_GET, "apt-mark": APT_MARK, "curl": CURL, "systemctl": SYSTEMCTL}
    for name, text in {**programs, "sysctl": LOG, "systemd-tmpfiles": LOG}.items():
        (folder / "bin" / name).write_text(text)
        (folder / "bin" / name).chmod(0o755)
    (folder / "token").write_text(f"{TOKEN}\n")
    (folder / "app.pem").write_text(APP_KEY)
    with tarfile.open(folder / archive_name(), "w:gz") as archive:
        for name in ("run.sh", "bin/Runner.Listener", "bin/Runner.Worker"):
            entry = tarfile.TarInfo(f"./{name}")
            entry.mode, entry.uid, entry.size = 0o777, 1001, 10
            archive.addfile(entry, io.BytesIO(b"#!/bin/sh\n"))
    (folder / "gpg").write_text(KEY)
    return folder


@pytest.fixture
def copy(tmp_path: Path, stand_ins: Path) -> Iterator[Copy]:
    programs = ("unshare", "nsenter", "systemctl", "gpg", "useradd")
    if os.geteuid() != 0 or not ARCH or not all(map(shutil.which, programs)):
        pytest.skip(f"needs root, for it makes users; x86_64 or aarch64; and {', '.join(programs)}")
    if not is_supported():
        pytest.skip("needs a distribution that provision.sh knows")
    script = ["sh", "-c", ENTER, "-", str(tmp_path), str(RUNNER), str(stand_ins)]
    holder = subprocess.Popen(["unshare", "--mount", "--net", *script], stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout
        if holder.stdout.readline() != "ready\n":
            pytest.skip("this machine allows no overlay of its file system")
        yield Copy(holder.pid, tmp_path, stand_ins)
    finally:
        holder.kill()
        holder.communicate()


def is_supported() -> bool:
    values = dict(line.split("=", 1) for line in Path("/etc/os-release").read_text().splitlines() if "=" in line)
    return (values["ID"], values["VERSION_ID"].strip('"')) in {("debian", "12"), ("debian", "13"), ("ubuntu", "24.04")}


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
    again = copy.provision("--repository", "me/pushbench", *app[:2], *app[4:])  # the key is there
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
    # Folders on the way, marks of what is hidden in this copy, and the files that useradd writes.
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
