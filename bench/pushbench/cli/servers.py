"""`pushbench servers`: what can be measured here."""

from __future__ import annotations

import typer

from pushbench.cli.examples import examples
from pushbench.cli.options import JsonOption, print_json, print_table

_EXAMPLES = examples(
    "./pushbench servers",
    "./pushbench servers --json",
)


def register(app: typer.Typer) -> None:
    app.command("servers", epilog=_EXAMPLES)(servers)


def servers(*, as_json: JsonOption = False) -> None:
    """List the servers, and which of them this machine can run."""
    from pushbench.building import toolchains
    from pushbench.catalog.servers import read_catalog
    from pushbench.foundation.project import Project

    catalog = read_catalog(Project.current().servers)
    chosen = [toolchains.choose(server.spec.process.toolchains) for server in catalog]
    versions = [each.versions if isinstance(each, toolchains.Toolset) else {} for each in chosen]
    missing = [[] if isinstance(each, toolchains.Toolset) else [str(one) for one in each] for each in chosen]
    keys = ["title", "language", "suite", "protocol", "tier"]
    if as_json:
        facts = [{"id": server.id, **{key: getattr(server.spec, key) for key in keys}} for server in catalog]
        print_json(
            [
                {**fact, "toolchains": found, "missing": lacking}
                for fact, found, lacking in zip(facts, versions, missing, strict=True)
            ]
        )
        return
    print_table(
        ["id", *keys, "toolchains"],
        [
            [server.id, *(getattr(server.spec, key) for key in keys), _said(found, lacking)]
            for server, found, lacking in zip(catalog, versions, missing, strict=True)
        ],
    )


def _said(found: dict[str, str], missing: list[str]) -> str:
    return "; ".join(missing) or ", ".join(f"{name} {version}" for name, version in found.items())
