"""The service `mysql`: MariaDB as a process on this machine, MySQL in a container.

Every commit is flushed to the disk before it is acknowledged, as by default. A folder in memory is refused, because it
would make the flush free. Each trial has its own data: a copy of a folder that is initialised once.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pushbench.building.toolchains import Toolchain
from pushbench.catalog.failures import ServerFailed
from pushbench.drivers.service import Client, Product, Service
from pushbench.machine.filesystems import IN_MEMORY, kind
from pushbench.machine.processes import SYSTEM_PATH

DATABASE = USER = PASSWORD = "pushbench"  # noqa: S105 - of a database that exists only during a trial
OBSERVER = "observer"
"""The user for requests that bypass the server under test, so that both kinds of connections are distinguishable."""
UNPRIVILEGED = "nobody"
"""The user that MariaDB runs as if Pushbench runs as root: MariaDB refuses to run as root."""
INSTALL_SECONDS = 120.0
GREETING = 0x0A
"""The fifth byte that a server sends: the version of the protocol. An error has 0xff there.
https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase_packets_protocol_handshake_v10.html"""

SETUP = f"""\
CREATE DATABASE IF NOT EXISTS {DATABASE} CHARACTER SET utf8mb4;
CREATE USER IF NOT EXISTS {USER}@'%' IDENTIFIED BY '{PASSWORD}';
CREATE USER IF NOT EXISTS {OBSERVER}@'%' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON {DATABASE}.* TO {USER}@'%', {OBSERVER}@'%';
GRANT PROCESS ON *.* TO {OBSERVER}@'%';
"""
INIT_FILE = "pushbench.sql"


def _arguments(port: int, data: Path) -> Sequence[str]:
    return [
        "--no-defaults",
        f"--datadir={data}",
        "--bind-address=127.0.0.1",
        f"--port={port}",
        "--socket=mysql.sock",  # these are in the data folder
        "--pid-file=mysql.pid",
        f"--init-file={data / INIT_FILE}",
        "--innodb-flush-log-at-trx-commit=1",
        "--innodb-buffer-pool-size=64M",
        "--skip-name-resolve",
        "--skip-log-bin",
        *_as_user(),
    ]


def _as_user() -> list[str]:
    return [f"--user={UNPRIVILEGED}"] if os.geteuid() == 0 else []


def _ready(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=1) as connection:
        greeting = b""
        while len(greeting) < 5 and (piece := connection.recv(5 - len(greeting))):
            greeting += piece
        return greeting[4:] == bytes([GREETING])
    return False


def _fill(program: Toolchain, kept: Path, data: Path) -> None:
    """Copy the initialised folder for this version; the first trial creates it."""
    kept.mkdir(parents=True, exist_ok=True)
    if (found := kind(kept)) in IN_MEMORY:
        raise ServerFailed(
            "start",
            f"the data of mysql must be on a disk, where a commit has its real cost; {kept} is in memory ({found}). "
            "Put the checkout on a disk",
        )
    prepared = kept / f"mariadb-{program.version}"
    with _one_at_a_time(kept / "lock"):
        if not prepared.exists():
            _initialise(program, prepared)
    _run(["cp", "--archive", "--reflink=auto", str(prepared), str(data)], "copying the data of mysql")


def _initialise(program: Toolchain, prepared: Path) -> None:
    with tempfile.TemporaryDirectory(dir=prepared.parent, ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)  # the unprivileged user needs access to its content
        made = Path(folder) / "data"
        install = shutil.which("mariadb-install-db", path=os.pathsep.join([str(program.folder), SYSTEM_PATH]))
        if install is None:
            raise ServerFailed("start", "mysql needs mariadb-install-db beside mariadbd: install mariadb-server")
        options = [f"--datadir={made}", "--auth-root-authentication-method=socket", "--skip-test-db"]
        _run([install, "--no-defaults", *options, "--skip-name-resolve", *_as_user()], "mariadb-install-db")
        (made / INIT_FILE).write_text(SETUP)
        made.rename(prepared)


def _run(argv: Sequence[str], what: str) -> None:
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServerFailed("start", f"{what}: {error}") from None
    if done.returncode:
        raise ServerFailed(
            "start", f"{what} ended with exit code {done.returncode}", (done.stdout + done.stderr)[-4000:]
        )


@contextlib.contextmanager
def _one_at_a_time(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def product(said: str) -> str:
    """`MariaDB 10.11.19` or `MySQL 8.4.7`, parsed from the program's output for --version."""
    version = re.search(r"\bVer (\d+(?:\.\d+)*)", said, re.ASCII)
    return f"{'MariaDB' if 'MariaDB' in said else 'MySQL'} {version[1] if version else 'unknown'}"


_CLIENT = ["--no-defaults", "--host=127.0.0.1", "--port={port}", "--batch", "--skip-column-names"]

MYSQL = Service(
    name="mysql",
    variable="DATABASE_URL",
    url=f"mysql://{USER}:{PASSWORD}@{{host}}:{{port}}/{DATABASE}",
    port=3306,
    program="mariadbd",
    versions=">=10.6",  # the oldest maintained version
    arguments=_arguments,
    ready=_ready,
    fill=_fill,
    client=Client(
        program="mariadb",
        image_program="mysql",
        arguments=[*_CLIENT, f"--user={OBSERVER}", f"--password={PASSWORD}", DATABASE, "--execute"],
        # The image sets a password for its root user only: compose/bench.yml.
        image_setup=([*_CLIENT, "--user=root", f"--password={PASSWORD}", "--execute"], SETUP),
    ),
    content=".sql",
    product=Product("mysqld", product),
    image_user="mysql",
)
