"""The server with faults: a server of the catalog, compiled with connections that misbehave according to a setting.

It has a git checkout of its own. The last commit has no fault, and the work tree has the selected fault, so `verify`,
`run` and `compare` work as usual. The server's sources stay unchanged.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from pushbench.building import toolchains
from pushbench.building.builds import run_step
from pushbench.building.toolchains import Toolset
from pushbench.calibration.catalogue import Catalogue, folder
from pushbench.catalog.servers import Server, read_servers
from pushbench.foundation.errors import UserError
from pushbench.foundation.files import write_atomically
from pushbench.foundation.git import git
from pushbench.foundation.project import Project

MAIN = "main.go"
SERVES = "server.serve(listener)"
"""in MAIN: the call that gives the server its listener"""
WITH_FAULTS = """\
package main

import (
	"log"
	"net"
	"os"

	"{module}/faulty"
)

func withFaults(listener net.Listener) net.Listener {{
	faults, err := faulty.Parse(os.Getenv("FAULTS"))
	if err != nil {{
		log.Fatal(err)
	}}
	return faulty.Listen(listener, faults)
}}
"""


@dataclass(frozen=True)
class FaultyServer:
    """The server in its checkout."""

    project: Project
    server: Server
    program: Path

    def set(self, faults: str) -> None:
        """Set the faults of the server in the work tree."""
        spec = self.server.spec.model_dump(mode="json", by_alias=True, exclude={"process", "image"})
        spec["env"] |= {"FAULTS": faults}
        spec["process"] = {"toolchains": self.server.process.toolchains, "start": [str(self.program)]}
        file = self.project.servers / self.server.id / "server.yml"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(file, json.dumps(spec, indent=2).encode())  # JSON is YAML


def prepare(project: Project, catalogue: Catalogue, root: Path) -> FaultyServer:
    """The server of the catalogue, built, in a new checkout at `root`; records beside it are kept.

    Raises UserError on failure.
    """
    [server] = read_servers(project.servers / catalogue.server)
    shutil.rmtree(root, ignore_errors=True)
    checkout = Project.at(root, root.with_name(f"{root.name}-out"))
    checkout.cache.mkdir(parents=True)
    (root / "k6").symlink_to(project.generator)
    built = project.cache / "k6"
    built.mkdir(parents=True, exist_ok=True)
    (checkout.cache / "k6").symlink_to(built)
    if project.thresholds.exists():
        shutil.copy(project.thresholds, checkout.thresholds)
    write_atomically(root / ".gitignore", b"/k6\n/.cache/\n")
    faulty = FaultyServer(checkout, server, build(project, server, checkout.cache / "faulty"))
    faulty.set("")
    _commit(root)
    return faulty


def build(project: Project, server: Server, place: Path) -> Path:
    """Compile the server with faults, in the folder `place`. Raises UserError on failure."""
    tools = toolchains.choose(server.process.toolchains)
    if not isinstance(tools, Toolset):
        raise UserError(f"building {server.id} with faults: {'; '.join(str(each) for each in tools)}")
    place.mkdir(parents=True, exist_ok=True)
    program, log = place / server.id, project.logs / f"build-faulty-{server.id}.log"
    log.unlink(missing_ok=True)
    overlay = _write_overlay(project, server, place)
    command = ["go", "build", "-trimpath", "-buildvcs=false", "-overlay", str(overlay), "-o", str(program), "."]
    if run_step(tools, command, server.folder, log) != 0:
        raise UserError(f"{server.id} with faults does not build", where=str(log))
    return program


def _write_overlay(project: Project, server: Server, place: Path) -> Path:
    """The file that tells Go which sources replace the server's, or are added to them."""
    main = (server.folder / MAIN).read_text()
    if main.count(SERVES) != 1:
        raise UserError(f"expected `{SERVES}` once", where=str(server.folder / MAIN))
    module = (server.folder / "go.mod").read_text().split()[1]
    added = {
        MAIN: main.replace(SERVES, "server.serve(withFaults(listener))"),
        "with_faults.go": WITH_FAULTS.format(module=module),
    }
    replaced = {}
    for name, text in added.items():
        write_atomically(place / name, text.encode())
        replaced[str(server.folder / name)] = str(place / name)
    for source in folder(project).glob("*.go"):
        if not source.name.endswith("_test.go"):
            replaced[str(server.folder / "faulty" / source.name)] = str(source)
    overlay = place / "overlay.json"
    write_atomically(overlay, json.dumps({"Replace": replaced}, indent=2).encode())
    return overlay


def _commit(root: Path) -> None:
    identity = ["-c", "user.name=Pushbench", "-c", "user.email=pushbench@localhost"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "No fault"]):
        done = git(root, *identity, *command)
        if not done.ok:
            raise UserError(f"git {command[0]}: {done.error}", where=str(root))
