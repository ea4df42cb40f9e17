"""The service `rabbitmq`: RabbitMQ with its STOMP plugin.

Its process has its own data folder, port and register of Erlang nodes (epmd), all on the loopback interface, so that it
does not interfere with another RabbitMQ of the machine.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from pushbench.building.toolchains import Toolchain
from pushbench.drivers.service import Service
from pushbench.machine.ports import free_port

USER = PASSWORD = "guest"  # noqa: S105 - RabbitMQ creates this user, and allows it on the loopback interface only
CONNECT = f"CONNECT\naccept-version:1.2\nhost:/\nlogin:{USER}\npasscode:{PASSWORD}\nheart-beat:0,0\n\n\0".encode()
LOOPBACK = "127.0.0.1"
OWN_PORTS = "ports"
"""The file with the ports of the register and of the node."""
START = 'epmd & exec "$0" "$@"'
"""Alone, RabbitMQ would start epmd as a daemon, which would outlive it."""


def _arguments(port: int, _: Path) -> Sequence[str]:
    """The settings of Erlang's applications, in Erlang's own syntax."""
    return [
        "-noinput",
        *("-kernel", "inet_dist_use_interface", "{127,0,0,1}"),
        *("-rabbit", "tcp_listeners", "[]"),
        *("-rabbitmq_stomp", "tcp_listeners", f'[{{"{LOOPBACK}",{port}}}]'),
    ]


def _environment(data: Path) -> Mapping[str, str]:
    """https://www.rabbitmq.com/docs/configure#supported-environment-variables"""
    register, node = (data / OWN_PORTS).read_text().split()
    return {
        "HOME": str(data),  # for the secret that Erlang's nodes share
        "RABBITMQ_NODENAME": f"{data.name}@localhost",
        "RABBITMQ_MNESIA_BASE": str(data / "mnesia"),
        "RABBITMQ_LOGS": "-",
        "RABBITMQ_ENABLED_PLUGINS": "rabbitmq_stomp",
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(data / "enabled_plugins"),
        "RABBITMQ_CONFIG_FILE": str(data / "none"),
        "RABBITMQ_GENERATED_CONFIG_DIR": str(data / "generated"),
        "RABBITMQ_CONF_ENV_FILE": "/dev/null",
        "RABBITMQ_DIST_PORT": node,
        "RABBITMQ_ALLOW_INPUT": "1",  # or a shell would stay between Pushbench and the node
        "ERL_EPMD_ADDRESS": LOOPBACK,
        "ERL_EPMD_PORT": register,
        "ERL_CRASH_DUMP_SECONDS": "0",
    }


def _fill(_: Toolchain, __: Path, data: Path) -> None:
    """Choose both ports, which stay the same through an outage."""
    data.mkdir(parents=True)
    (data / OWN_PORTS).write_text(f"{free_port()} {free_port()}")


def _ready(host: str, port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=5) as connection:
        connection.sendall(CONNECT)
        return connection.recv(64).startswith(b"CONNECTED\n")
    return False


RABBITMQ = Service(
    name="rabbitmq",
    variable="STOMP_URL",
    url=f"stomp://{USER}:{PASSWORD}@{{host}}:{{port}}",
    port=61613,
    program="rabbitmq-server",
    versions=">=3.10",
    wrapper=["sh", "-c", START],
    arguments=_arguments,
    environment=_environment,
    ready=_ready,
    fill=_fill,
    image_user="rabbitmq",
)
