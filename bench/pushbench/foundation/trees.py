"""Other commits of a checkout, each in its own git worktree, kept for the next comparison."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from pushbench.foundation.errors import UserError
from pushbench.foundation.files import locked
from pushbench.foundation.git import git
from pushbench.foundation.project import Project

KEPT = 3
"""work trees: each has its own builds, some 100 MB of them"""


def check_out(project: Project, ref: str) -> Project:
    """The checkout at `ref`, below the cache. Raises UserError if there is no such commit."""
    return Project.at(tree_at(project.root, ref, project.cache / "trees"), project.out)


def tree_at(root: Path, ref: str, trees: Path) -> Path:
    """A work tree of the repository `root` at `ref`, below `trees`. Raises UserError if there is no such commit."""
    sha = resolve(root, ref)
    tree = trees / sha
    with locked(trees / ".lock", lambda: None):
        if git(tree, "rev-parse", "HEAD").text != sha or _changes(tree):
            shutil.rmtree(tree, ignore_errors=True)
            git(root, "worktree", "prune")
            made = git(root, "worktree", "add", "--detach", "--force", str(tree), sha)
            if not made.ok:
                raise UserError(f"{ref!r} cannot be checked out: {made.error}", where=str(tree))
        tree.touch()
        for old in sorted(trees.glob("?" * 40), key=lambda each: each.stat().st_mtime)[:-KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        git(root, "worktree", "prune")
    return tree


def commit_with(root: Path, base: str, texts: Mapping[str, str], message: str) -> str:
    """The name of a commit after `base` in which these texts, by path, replace its files. It is on no branch, and the
    same texts make the same commit. Raises UserError if git makes none.
    """
    known = {
        "NAME": "Pushbench",
        "EMAIL": "pushbench@localhost",
        "DATE": git(root, "log", "-1", "--format=%cI", base).text,
    }
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        variables = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in known.items()}
        variables["GIT_INDEX_FILE"] = str(scratch / "index")

        def run(*arguments: str) -> str:
            done = git(root, *arguments, environment=variables)
            if not done.ok:
                raise UserError(f"git {arguments[0]}: {done.error}", where=str(root))
            return done.text

        run("read-tree", base)
        for path, text in texts.items():
            (scratch / "text").write_text(text, encoding="utf-8")
            blob = run("hash-object", "-w", "--no-filters", str(scratch / "text"))
            mode = run("ls-files", "--stage", "--", path).partition(" ")[0] or "100644"
            run("update-index", "--add", "--cacheinfo", f"{mode},{blob},{path}")
        return run("commit-tree", run("write-tree"), "-p", base, "-m", message)


def content_at(root: Path, ref: str, path: str, most: int) -> str | None:
    """The text of a file in a commit; None if it has no such file. Raises UserError for more than `most` bytes."""
    name = f"{ref}:{path}"
    if git(root, "cat-file", "-t", name).text != "blob":
        return None
    size = int(git(root, "cat-file", "-s", name).text)
    if size > most:
        raise UserError(f"{size:,} bytes at {ref[:12]}: {most:,} at most", where=path)
    return git(root, "cat-file", "blob", name).output


def resolve(root: Path, ref: str) -> str:
    """The full name of a commit. Raises UserError if git does not know it, or if `root` is not a git checkout."""
    found = git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if found.ok:
        return found.text
    if not git(root, "rev-parse", "--git-dir").ok:
        raise UserError("not a git checkout: there is nothing to compare with", where=str(root))
    raise UserError(
        f"unknown commit {ref!r}",
        where=str(root),
        hint="fetch it first: a shallow clone has the newest commits only (git fetch --unshallow)",
    )


def _changes(tree: Path) -> bool:
    return bool(git(tree, "status", "--porcelain", "--untracked-files=no").text)
