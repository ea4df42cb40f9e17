"""The images that a Dockerfile starts from, and whether a build can have them here."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pushbench.building.engine import Engine, EngineFailed

PULL_SECONDS = 60.0
"""to hear that a registry is out of reach: Docker gives up after 15 s; an image that comes more slowly is in reach"""
UNREACHABLE = re.compile(
    r"no such host|network is unreachable|no route to host|connection refused|i/o timeout|Client\.Timeout"
    r"|temporary failure in name resolution|server misbehaving",
    re.IGNORECASE,
)


def base_images(dockerfile: str, arguments: Mapping[str, str]) -> list[str]:
    """What the FROM lines of a Dockerfile name, each once, without its own stages; `arguments` replace its defaults."""
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
    """The first image that the engine does not have and whose registry cannot be reached; None when there is none.

    An image that a registry in reach refuses, or does not have, is not out of reach: the build is to fail.
    """
    for reference in base_images(dockerfile, arguments):
        if engine.image(reference) is None:
            try:
                engine.run("pull", "--quiet", reference, seconds=PULL_SECONDS)
            except EngineFailed as error:
                if UNREACHABLE.search(str(error)):
                    return reference
    return None
