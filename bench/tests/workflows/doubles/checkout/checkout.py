"""What actions/checkout fetches: one commit, or with `fetch-depth: 0` every branch and tag, and nothing else.

https://github.com/actions/checkout/blob/main/src/input-helper.ts (the inputs), ref-helper.ts (the refs to fetch) and
git-source-provider.ts (the order).
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

origin = f"file://{os.environ['DOUBLES']}/origin.git"
ref, commit = os.environ["REF"], ""
if not ref and os.environ["REPOSITORY"] in ("", os.environ["OWN"]):
    ref, commit = os.environ["EVENT_REF"], os.environ["EVENT_SHA"]
    if not ref.startswith("refs/"):
        ref = f"refs/heads/{ref}"
elif re.fullmatch("[0-9a-fA-F]{40}", ref):
    ref, commit = "", ref
assert ref or commit, "the default branch of another repository is not asked for by any workflow"


def git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], check=True)


def there(name: str) -> bool:
    command = ["git", "rev-parse", "--verify", "--quiet", name]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def refspecs() -> list[str]:
    kind, _, name = ref.removeprefix("refs/").partition("/") if ref.startswith("refs/") else ("", "", ref)
    source = commit or ref
    match kind:
        case "heads":
            return [f"+{source}:refs/remotes/origin/{name}"]
        case "pull":
            return [f"+{source}:refs/remotes/pull/{name}"]
        case "tags":
            return [f"+{source}:{ref}"]
    if commit:
        return [commit]
    return [f"+refs/heads/{ref}*:refs/remotes/origin/{ref}*", f"+refs/tags/{ref}*:refs/tags/{ref}*"]


into = Path(os.environ["INTO"])
into.mkdir(parents=True, exist_ok=True)
os.chdir(into)
for path in Path().iterdir():
    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
git("init", "--quiet", ".")
git("remote", "add", "origin", origin)
depth = int(os.environ["DEPTH"])
if depth > 0:
    git("fetch", "--quiet", "--no-tags", "--prune", f"--depth={depth}", "origin", *refspecs())
else:
    everything = ["+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"]
    git("fetch", "--quiet", "--no-tags", "--prune", "origin", *everything)
    if commit and not there(f"{commit}^{{commit}}"):
        git("fetch", "--quiet", "--no-tags", "--prune", "origin", *refspecs())
if not ref:
    git("checkout", "--quiet", "--force", commit)
elif ref.startswith("refs/pull/"):
    git("checkout", "--quiet", "--force", f"refs/remotes/{ref.removeprefix('refs/')}")
elif ref.startswith("refs/tags/"):
    git("checkout", "--quiet", "--force", ref)
else:
    branch = ref.removeprefix("refs/heads/")
    known = there(f"refs/remotes/origin/{branch}")
    target = ["-B", branch, f"refs/remotes/origin/{branch}"] if known else [f"refs/tags/{branch}"]
    git("checkout", "--quiet", "--force", *target)
if os.environ["PERSIST"] == "true":
    git("config", "http.https://github.com/.extraheader", "AUTHORIZATION: basic of-the-double")
kept = Path(os.environ["DOUBLES"]) / "cache" / "pushbench"
kept.mkdir(parents=True, exist_ok=True)
Path(".cache").mkdir(exist_ok=True)
Path(".cache/pushbench").symlink_to(kept)
