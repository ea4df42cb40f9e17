"""The base images of a Dockerfile, and whether a build on this machine can get them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pushbench.building.engine import Engine, EngineFailed

PULL_SECONDS = 60.0
"""to detect an unreachable registry: Docker gives up after 15 s; a pull that takes longer has reached its registry"""
UNREACHABLE = re.compile(
    r"no such host|network is unreachable|no route to host|connection refused|i/o timeout|Client\.Timeout"
    r"|temporary failure in name resolution|server misbehaving",
    re.IGNORECASE,
)


def base_images(dockerfile: str, arguments: Mapping[str, str]) -> list[str]:
    """The images in the FROM lines of a Dockerfile, each once, without stages. `arguments` override its defaults."""
    values: dict[str, str] = {}
    stages, found = {"scratch"}, []
    for line in dockerfile.splitlines():
        if declared := re.match(r"ARG\s+(\w+)=(\S+)", line):
            name, default = declared.groups()
            values[name] = arguments.get(name, default)
        elif base := re.match(r"FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?", line, re.IGNORECASE):
            reference = re.sub(r"\$\{?(\w+)\}?", lambda variable: values[variable[1]], base[1])
            if reference not in stages:
                found.append(reference)
            stages |= {reference, base[2]} - {None}
    return found


def out_of_reach(engine: Engine, dockerfile: str, arguments: Mapping[str, str]) -> str | None:
    """The first image that the engine lacks and whose registry cannot be reached, or None.

    An image that a reachable registry refuses or lacks does not count: the build should fail.
    """
    for reference in base_images(dockerfile, arguments):
        if engine.image(reference) is None:
            try:
                engine.run("pull", "--quiet", reference, seconds=PULL_SECONDS)
            except EngineFailed as error:
                if UNREACHABLE.search(str(error)):
                    return reference
    return None
