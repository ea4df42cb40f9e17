"""The settings that a repository's workflow files depend on: actions, variables, secrets, the default branch.

The files come from GitHub and are read as text, line by line: nothing in them is expanded or run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

FOLDER = ".github/workflows"
CODEOWNERS = ".github/CODEOWNERS"
WORKFLOWS = {
    "bench.yml": "measures",
    "ci.yml": "checks and tests the code",
    "clean.yml": "deletes images that are not needed",
    "command.yml": "reads comments such as /pushbench",
    "night.yml": "starts the measurement of every night",
    "own-server.yml": "is called by other repositories",
    "publish.yml": "adds to gh-pages and deploys the site",
    "report.yml": "writes the check and the comment",
    "watch.yml": "detects that the machine is gone",
}
"""the purpose of each"""

_USES = re.compile(r"^[ \t]*(?:-[ \t]+)?uses:[ \t]*[\"']?([^\s\"'#]+)", re.MULTILINE)
_LOCAL = re.compile(r"\./(\.github/actions/[a-z0-9-]+)", re.ASCII)
_VARIABLE = re.compile(r"\bvars\.(PUSHBENCH_[A-Z0-9_]+)", re.ASCII)
_SECRET = re.compile(r"\bsecrets\.(PUSHBENCH_[A-Z0-9_]+)", re.ASCII)
_SHA = re.compile(r"[0-9a-f]{40}")
_BRANCHES = re.compile(r"(?<![\w-])branches:[ \t]*(\[[^\]]{0,2000}\]|(?:\s*^[ \t]*- .{1,200}$)+)", re.MULTILINE)
_NAME = re.compile(r"[^\s\[\],\"'#-][^\s\[\],\"'#]*")
_REF = re.compile(r"['\"]refs/heads/([\w./-]+)['\"]", re.ASCII)


@dataclass(frozen=True, order=True)
class Action:
    """An external action, as named by `uses`."""

    repository: str
    """owner/name, and a path if it has one"""
    ref: str

    @property
    def owner(self) -> str:
        return self.repository.partition("/")[0].lower()

    @property
    def pinned(self) -> bool:
        return _SHA.fullmatch(self.ref) is not None

    def __str__(self) -> str:
        return f"{self.repository}@{self.ref}"


def actions(files: Mapping[str, str]) -> list[Action]:
    """The actions in the files, without the repository's own."""
    named = (name.partition("@") for text in files.values() for name in _USES.findall(text))
    return sorted({Action(name, ref) for name, _, ref in named if ref and not name.startswith((".", "docker:"))})


def local_actions(files: Mapping[str, str]) -> list[str]:
    """The paths of the repository's own actions that the files use."""
    return sorted({f"{folder}/action.yml" for text in files.values() for folder in _LOCAL.findall(text)})


def variables(files: Mapping[str, str]) -> frozenset[str]:
    return frozenset(name for text in files.values() for name in _VARIABLE.findall(text))


def secrets(files: Mapping[str, str]) -> frozenset[str]:
    return frozenset(name for text in files.values() for name in _SECRET.findall(text))


def matches(pattern: str, action: Action) -> bool:
    """Whether a pattern of the allowed actions matches: `owner/name@*`, `owner/*`; names are case-insensitive."""
    return fnmatchcase(str(action).lower(), pattern.lower())


def without_branch(files: Mapping[str, str], branch: str) -> list[str]:
    """The workflows with an event or a condition that names only branches other than `branch`."""
    return sorted(file for file, text in files.items() if file.startswith(FOLDER) and not _runs_on(text, branch))


def _runs_on(text: str, branch: str) -> bool:
    filters = [_NAME.findall(listed) for listed in _BRANCHES.findall(text)]
    conditions = set(_REF.findall(text)) - {"gh-pages"}
    named = all(any(fnmatchcase(branch, pattern) for pattern in patterns) for patterns in filters)
    return named and conditions <= {branch}
