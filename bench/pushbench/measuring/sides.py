"""The sides of a comparison: commits of this checkout, or of the repository that the servers' sources are in."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pushbench.catalog.servers import Server, read_catalog, select
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import git
from pushbench.foundation.project import Project
from pushbench.foundation.trees import check_out, tree_at


@dataclass(frozen=True)
class Side:
    """A commit of servers, or the work tree."""

    project: Project
    """has the catalog, the builds and the logs of this side"""
    root: Path
    """the work tree of the commit"""
    repository: Path | None = None
    """where the sources are in the catalog, if they are not in `project`"""

    def catalog(self) -> list[Server]:
        return self.at(read_catalog(self.project.servers))

    def at(self, servers: Sequence[Server]) -> list[Server]:
        """The servers with the sources of this side."""
        return [self._moved(server) for server in servers]

    def _moved(self, server: Server) -> Server:
        if self.repository is None or not server.folder.is_relative_to(self.repository):
            return server
        return replace(server, folder=self.root / server.folder.relative_to(self.repository))


def side_of(project: Project, repository: Path | None, ref: str | None) -> Side:
    """The side at `ref`, or the work tree. Raises UserError if there is no such commit.

    The description of servers in another repository is always today's: commits older than the description can be
    measured, too.
    """
    if repository is None:
        found = check_out(project, ref) if ref else project
        return Side(found, found.root)
    if not ref:
        return Side(project, repository)
    cache = project.cache / "repositories" / hashlib.sha256(bytes(repository)).hexdigest()[:12]
    tree = tree_at(repository, ref, cache / "trees")
    view = Project.at(cache / "views" / tree.name, project.out)
    for ours, there in ((view.servers, project.servers), (view.generator, project.generator)):
        ours.parent.mkdir(parents=True, exist_ok=True)
        if not ours.is_symlink():
            ours.symlink_to(there)
    return Side(view, tree, repository)


def repository_of(servers: Sequence[Server]) -> Path | None:
    """The repository with the sources of these servers; None for this checkout. Raises UserError for several."""
    found = {_repository(server) for server in servers}
    if len(found) > 1:
        raise UserError(
            f"the sources of these servers are in {len(found)} repositories: {', '.join(each.id for each in servers)}",
            hint="name the servers of one",
        )
    return found.pop() if found else None


def repository_named(project: Project, names: Sequence[str]) -> Path | None:
    """Like `repository_of`, for the servers with these names."""
    return repository_of(select(read_catalog(project.servers), names))


@dataclass(frozen=True)
class Sources:
    """Where the sources of a server are in a repository, and which part of them does not change the server."""

    root: Path
    path: str
    mark: str
    """a path that exists at the commits that have the server"""
    besides: str = ""
    """the description beside the sources: today's applies"""

    def at(self, sha: str) -> bool:
        """Whether a commit has the server."""
        return git(self.root, "cat-file", "-e", f"{sha}:{self.mark}").ok

    def change(self, before: str, sha: str) -> bool:
        """Whether the server differs between two commits."""
        without = [f":(exclude,top){self.besides}"] if self.besides else []
        return not git(self.root, "diff", "--quiet", before, sha, "--", f":(top){self.path}", *without).ok


def sources_of(project: Project, name: str) -> Sources:
    """The sources of a server, which need not be in today's catalog. Raises UserError as `repository_of`."""
    server = next((each for each in read_catalog(project.servers) if each.id == name), None)
    repository = _repository(server) if server else None
    if server is None or repository is None or server.described is None:
        path = f"servers/{name.partition('/')[0]}"
        return Sources(project.root, path, f"{path}/server.yml")
    path = server.folder.relative_to(repository).as_posix()
    path = "" if path == "." else path
    return Sources(repository, path, path, server.described.relative_to(repository).as_posix())


def root_of(project: Project, servers: Sequence[Server]) -> Path:
    """The checkout whose commit a run of these servers measures: the one with their sources, if all have the same."""
    found = {_repository(server) for server in servers}
    return (found.pop() if len(found) == 1 else None) or project.root


def _repository(server: Server) -> Path | None:
    if server.described is None:
        return None
    top = git(server.described, "rev-parse", "--show-toplevel").text
    if not top or not server.folder.is_relative_to(top):
        what = "is above the repository" if top else "is in no git repository, so no commits can be compared"
        raise UserError(f"source: {server.folder} {what}", where=str(server.file))
    return Path(top)
