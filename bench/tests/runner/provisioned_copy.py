"""A copy of this machine to provision: its file system below a disposable layer, and a separate network.

Users, package states, units, permissions and firewall rules are real; downloads and running services are not.
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

RUNNER = Path(__file__).parents[3] / "compose" / "runner"
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

# A package is an entry in dpkg's own list. docker-ce installs a unit and enables it, as Debian's packages do with
# deb-systemd-helper, and removes both; a start of docker creates the user of its containers.
APT_GET = """\
#!/usr/bin/python3
import sys
from pathlib import Path
status, unit = Path("/var/lib/dpkg/status"), Path("/usr/lib/systemd/system/docker.service")
enabled = Path("/etc/systemd/system/multi-user.target.wants/docker.service")
verb, names = sys.argv[1], [each for each in sys.argv[2:] if not each.startswith("-")]
entries = [each for each in status.read_text().split("\\n\\n") if each.strip()]
kept = [each for each in entries if each.split("\\n")[0].removeprefix("Package: ") not in names]
if verb == "install":
    kept += [f"Package: {name}\\nStatus: install ok installed\\nArchitecture: all\\nVersion: 1\\n"
             "Maintainer: test\\nDescription: test" for name in names]
    if "docker-ce" in names:
        unit.write_text("[Service]\\nExecStart=/bin/true\\n[Install]\\nWantedBy=multi-user.target\\n")
        enabled.parent.mkdir(parents=True, exist_ok=True)
        enabled.unlink(missing_ok=True)
        enabled.symlink_to(unit)
elif verb == "purge" and "docker-ce" in names:
    unit.unlink()
    enabled.unlink(missing_ok=True)
status.write_text("\\n\\n".join(kept) + "\\n\\n")
"""

CURL = """\
#!/bin/sh
# --output FILE ADDRESS come last
while [ $# -gt 3 ]; do shift; done
[ ! -e /stand-ins/offline ] || { echo "curl: (6) Could not resolve host" >&2; exit 6; }
cp "/stand-ins/$(basename "$3")" "$2"
"""

# The real systemctl does what needs no running systemd.
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

# A key without an owner: its secret half was thrown away.
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
        """Every file that differs from the machine below, by path: kind, permissions, owner, target, time and size."""
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
    """Stand-ins for programs and downloads that need the internet or a running systemd."""
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
