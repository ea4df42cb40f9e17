"""What only a checkout has: titles and links of servers, suites, margins, and the judge's error rates."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from pushbench.calibration.error_rates import Calibration
from pushbench.calibration.report import ARMS
from pushbench.catalog.servers import Server, read_catalog
from pushbench.catalog.suites import Suite, read_suites
from pushbench.conformance import Rule, every_server, rules_for
from pushbench.conformance.rule import rules_in
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.metrics.definitions import cost, metrics_of
from pushbench.records.capacity import CLIENTS
from pushbench.records.vocabulary import Latency, Vocabulary
from pushbench.reporting.looks import read_listed
from pushbench.reporting.rows import groups
from pushbench.site import protocols
from pushbench.site.bias import bias
from pushbench.site.faults import faults
from pushbench.site.layout import Data


@dataclass(frozen=True)
class Context:
    """`repository` is the address of the sources, such as https://github.com/somebody/pushbench, or None."""

    servers: list[Server]
    suites: list[Suite]
    calibration: Calibration | None
    faults: Data | None
    """how often each injected fault was seen, from docs/calibration-faults.json; None without it"""
    bias: Data | None
    """what changes without a meaning cost each server"""
    repository: str | None
    spoken: str
    """docs/protocols.md"""
    looks: list[str]
    """servers with a fixed look"""

    def suite(self, name: str) -> Suite | None:
        """A suite of the checkout; None for a record of another suite."""
        return next((each for each in self.suites if each.id == name), None)


def read_context(project: Project, repository: str | None) -> Context:
    return Context(
        read_catalog(project.servers),
        read_suites(project.scenarios),
        _calibration(project.root / "docs" / "calibration.json"),
        faults(project),
        bias(project),
        repository or _of_workflow(),
        _text(project.root / "docs" / "protocols.md"),
        read_listed(project.pages / "looks.txt"),
    )


def servers(context: Context) -> Data:
    return {
        server.id: {
            "title": server.spec.title,
            "link": server.spec.link,
            "language": server.spec.language,
            "protocol": server.spec.protocol,
            "tier": server.spec.tier,
            "folder": f"servers/{server.folder.name}",
        }
        for server in context.servers
    }


def suites(
    context: Context, measured: Iterable[str], words: Callable[[str], Vocabulary], thresholds: Thresholds
) -> Data:
    """The words, metrics, load and limits of each suite of the checkout and of each other measured suite."""
    names = sorted({*(suite.id for suite in context.suites), *measured})
    return {
        name: _words(title_of(context, name), words(name))
        | {"load": load_of(context, name), "limits": _limits(thresholds, name)}
        for name in names
    }


def load_of(context: Context, name: str) -> str:
    """`clients`, or the parameter that is the rate of all clients together."""
    suite = context.suite(name)
    return suite.spec.capacity.searched if suite and suite.spec.capacity else CLIENTS


def _limits(thresholds: Thresholds, suite: str) -> list[Data]:
    """The limits of all servers and stages: exceptions expire, and a limit of one stage does not apply to a curve."""
    return [
        {"metric": limit.metric, "side": limit.bound.side, "value": limit.bound.value}
        for limit in thresholds.suite(suite).limits
        if limit.server is None and limit.stages is None
    ]


def title_of(context: Context, name: str) -> str:
    suite = context.suite(name)
    return suite.spec.title if suite else name.replace("-", " ").capitalize()


def _words(title: str, words: Vocabulary) -> Data:
    """`columns` are the metrics of a table; `method_1` explains metrics that older records count differently."""
    metrics = metrics_of(words)
    return {
        "title": title,
        "work": words.work.plural.lower(),
        "exchanges": words.exchange.plural.lower(),
        "headline": words.headline,
        "cost": cost(words),
        "latencies": {name: latency.title for name, latency in words.latencies.items()},
        "columns": [
            row.metric
            for group in groups(words)
            for row in group
            if row.metric != "clients" and not metrics[row.metric].of_outage
        ],
        "metrics": {
            each.name: {"title": each.title, "unit": each.unit.value, "better": each.better.value}
            | ({"method_1": each.method_1} if each.method_1 else {})
            for each in metrics.values()
        },
    }


def margins(thresholds: Thresholds) -> Data:
    return {
        name: {each.metric: {"margin": each.margin, "floor": each.floor} for each in suite.regressions}
        for name, suite in thresholds.suites.items()
    }


def method(context: Context, thresholds: Thresholds) -> Data:
    """The data of the page about the method, in addition to its own text."""
    known = protocols.protocols(context.spoken)
    return {
        "contract": protocols.contract(context.spoken),
        "suites": [
            {
                "id": suite.id,
                "title": suite.spec.title,
                "description": suite.spec.description,
                "protocols": [
                    {"name": name, **known.get(name, {"title": "", "blocks": []})} for name in suite.spec.protocols
                ],
                "contract": protocols.promises(context.spoken, suite.id, _rules(suite)),
                "latencies": [_latency(each) for each in suite.spec.words.latencies.values()],
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
                    {
                        "metric": each.metric,
                        "margin": each.margin,
                        "floor": each.floor,
                        "bias": each.bias,
                        "server": server,
                    }
                    for server, each in thresholds.suite(suite.id).all_regressions
                ],
            }
            for suite in context.suites
        ],
        "calibration": context.calibration.model_dump(mode="json") if context.calibration else None,
        "arms": dict(ARMS),
        "faults": context.faults,
        "bias": context.bias,
    }


def _rules(suite: Suite) -> dict[str, list[Rule]]:
    """The rules of each protocol that has any, without the rules that apply to every server."""
    found: dict[str, list[Rule]] = {}
    for protocol in suite.spec.protocols:
        with contextlib.suppress(UserError):  # an unfinished suite may have no rules yet
            rules = rules_for(suite.id, protocol, services=["any"])
            found[protocol] = [rule for rule in rules if rule not in rules_in(every_server)]
    return found


def _latency(latency: Latency) -> Data:
    return {"title": latency.title, "until": latency.until}


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
    """The repository of the current GitHub workflow (from variables that every runner sets)."""
    server, repository = os.environ.get("GITHUB_SERVER_URL"), os.environ.get("GITHUB_REPOSITORY")
    return f"{server}/{repository}" if server and repository else None
