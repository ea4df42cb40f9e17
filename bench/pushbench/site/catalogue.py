"""What a checkout knows and no record: titles and links of servers, suites, margins, how often the judge is right."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from pushbench.calibration import Calibration
from pushbench.catalog import Server, read_catalog
from pushbench.errors import UserError
from pushbench.metrics import METRICS
from pushbench.project import Project
from pushbench.site import protocols
from pushbench.site.layout import Data
from pushbench.suites import Suite, read_suites
from pushbench.thresholds import Thresholds


@dataclass(frozen=True)
class Catalogue:
    """`repository` is where the sources can be read, such as https://github.com/somebody/pushbench, or nothing."""

    servers: list[Server]
    suites: list[Suite]
    calibration: Calibration | None
    repository: str | None
    spoken: str
    """docs/protocols.md"""


def read_catalogue(project: Project, repository: str | None) -> Catalogue:
    return Catalogue(
        read_catalog(project.servers),
        read_suites(project.scenarios),
        _calibration(project.root / "docs" / "calibration.json"),
        repository or _of_workflow(),
        _text(project.root / "docs" / "protocols.md"),
    )


def servers(catalogue: Catalogue) -> Data:
    return {
        server.id: {
            "title": server.spec.title,
            "link": server.spec.link,
            "language": server.spec.language,
            "protocol": server.spec.protocol,
            "tier": server.spec.tier,
            "folder": f"servers/{server.folder.name}",
        }
        for server in catalogue.servers
    }


def metrics(names: list[str]) -> Data:
    """`method_1` says how older records count a metric, where that is otherwise."""
    found = (METRICS[name] for name in names)
    return {
        each.name: {"title": each.title, "unit": each.unit.value, "better": each.better.value}
        | ({"method_1": each.method_1} if each.method_1 else {})
        for each in found
    }


def margins(thresholds: Thresholds) -> Data:
    return {
        name: {each.metric: {"margin": each.margin, "floor": each.floor} for each in suite.regressions}
        for name, suite in thresholds.suites.items()
    }


def method(catalogue: Catalogue, thresholds: Thresholds) -> Data:
    """What the page about the method shows beside its own words."""
    known = protocols.protocols(catalogue.spoken)
    return {
        "contract": protocols.contract(catalogue.spoken),
        "suites": [
            {
                "id": suite.id,
                "title": suite.spec.title,
                "description": suite.spec.description,
                "protocols": [
                    {"name": name, **known.get(name, {"title": "", "blocks": []})} for name in suite.spec.protocols
                ],
                "parameters": suite.spec.parameters,
                "profiles": {name: profile.model_dump() for name, profile in suite.spec.profiles.items()},
                "limits": [
                    {
                        "metric": limit.metric,
                        "side": limit.bound.side,
                        "value": limit.bound.value,
                        "server": limit.server,
                    }
                    for limit in thresholds.suite(suite.id).limits
                ],
                "margins": [
                    {"metric": each.metric, "margin": each.margin, "floor": each.floor}
                    for each in thresholds.suite(suite.id).regressions
                ],
            }
            for suite in catalogue.suites
        ],
        "calibration": catalogue.calibration.model_dump(mode="json") if catalogue.calibration else None,
    }


def _text(file: Path) -> str:
    return file.read_text() if file.is_file() else ""


def _calibration(file: Path) -> Calibration | None:
    try:
        return Calibration.model_validate_json(file.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise UserError("no calibration of the judge", where=str(file), hint=str(error).splitlines()[0]) from None


def _of_workflow() -> str | None:
    """Of the GitHub workflow that this runs in (the variables that every runner sets)."""
    server, repository = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"{server}/{repository}" if server and repository else None
