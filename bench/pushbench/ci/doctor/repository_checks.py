"""Checks of the repository itself: branch, issues, forks, labels, owners of code, variables, secrets."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from pushbench.ci.doctor import workflow_files
from pushbench.ci.doctor.facts import Facts, shown
from pushbench.ci.doctor.finding import Fix, Said, fix, missing, ok
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import nearest
from pushbench.metrics.definitions import Unit
from pushbench.metrics.units import parse_quantity

LABELS = {
    "bench:full": "Measure every server at the next push",
    "pushbench": "A red night, or a machine that is gone",
}
SECRETS = ("PUSHBENCH_RUNNERS_TOKEN", "PUSHBENCH_WEBHOOK")
"""both optional"""
RUNNER = "PUSHBENCH_RUNNER"
"""the variable that a fork sets to measure by itself"""


def repository(facts: Facts) -> Said:
    found = facts.repository
    if found.archived:
        page = f"{facts.settings}#danger-zone"
        return missing(
            "it is archived: nothing runs there", fix("Unarchive it.", "gh", "repo", "unarchive", facts.name, page=page)
        )
    kind = "private" if found.private else "public"
    return ok(f"{facts.name}, {kind}, of {'an organisation' if _organisation(facts) else 'a person'}")


def _organisation(facts: Facts) -> bool:
    return facts.repository.owner.type == "Organization"


def default_branch(facts: Facts) -> Said:
    branch = facts.repository.default_branch
    files = workflow_files.without_branch(shown(facts.files), branch)
    if files:
        do = f"Write {branch} where these files name another branch, and merge that: {', '.join(files)}."
        return missing(f"workflows do not run on {branch}, the default branch", fix(do))
    return ok(branch)


def issues(facts: Facts) -> Said:
    if facts.repository.has_issues:
        return ok("enabled")
    how = fix("Enable them.", "gh", "repo", "edit", facts.name, "--enable-issues", page=facts.settings)
    return missing("disabled, so no issue can report a red night or a missing machine", how)


def fork(facts: Facts) -> Said:
    if not facts.repository.fork:
        return ok("it is not a fork")
    if any(variable.name == RUNNER and variable.value for variable in shown(facts.variables)):
        return ok(f"it is a fork with a machine of its own, as {RUNNER} says")
    how = fix(
        "Say that it has a machine of its own.",
        "gh",
        "variable",
        "set",
        RUNNER,
        "--repo",
        facts.name,
        "--body",
        "own",
        page=f"{facts.settings}/variables/actions",
    )
    return missing(f"it is a fork, and measures nothing while {RUNNER} is not set", how)


def labels(facts: Facts) -> Said:
    there = {label.lower() for label in shown(facts.labels)}
    absent = {name: why for name, why in LABELS.items() if name not in there}
    if not absent:
        return ok(", ".join(LABELS))
    commands = [
        fix(f"Make {name}.", "gh", "label", "create", name, "--repo", facts.name, "--description", why)
        for name, why in absent.items()
    ]
    return missing(f"not there: {', '.join(absent)}", *commands)


def codeowners(facts: Facts) -> Said:
    example = "OWNER/TEAM" if _organisation(facts) else facts.name.partition("/")[0]
    how = fix(
        f"Write lines such as `* @{example}` into {workflow_files.CODEOWNERS}, of an owner with write access.",
        page=f"https://github.com/{facts.name}/blob/{facts.repository.default_branch}/{workflow_files.CODEOWNERS}",
    )
    text = shown(facts.files).get(workflow_files.CODEOWNERS, "")
    rules = [line for line in text.splitlines() if line.strip() and not line.strip().startswith("#")]
    if not rules:
        return missing("no reviewer of workflows and thresholds is named", how)
    errors = shown(facts.owners_errors)
    if errors:
        first = errors[0]
        more = f", and {len(errors) - 1} more" if len(errors) > 1 else ""
        return missing(f"{first.path}:{first.line}: {first.kind}: {first.source}{more}", how)
    return ok(f"{len(rules)} {'rule' if len(rules) == 1 else 'rules'}, every owner known")


def variables(facts: Facts) -> Said:
    known = workflow_files.variables(shown(facts.files))
    ours = [each for each in shown(facts.variables) if each.name.startswith("PUSHBENCH_")]
    page = f"{facts.settings}/variables/actions"
    wrong: list[str] = []
    fixes: list[Fix] = []
    for each in ours:
        delete = ("gh", "variable", "delete", each.name, "--repo", facts.name)
        if each.name not in known:
            guess = nearest(each.name, known)
            wrong.append(f"no workflow reads {each.name}")
            fixes.append(fix(f"Did you mean {guess}?" if guess else "Delete it.", *delete, page=page))
        elif expected := _expected(each.name, each.value, facts.profiles):
            wrong.append(f"{each.name} is {each.value[:80]!r}, expected {expected}")
            change = ("gh", "variable", "set", each.name, "--repo", facts.name)
            fixes.append(fix("Set it again.", *change, page=page))
    if wrong:
        return missing("; ".join(wrong), *fixes)
    names = ", ".join(each.name for each in ours)
    return ok(f"{names}: valid" if ours else "none is set: defaults")


def _expected(name: str, value: str, profiles: frozenset[str]) -> str | None:
    """The valid values of the variable; None if its value is valid, or empty, which is the same as not set."""
    valid, expected = True, ""
    if not value:
        return None
    if name.endswith("_PROFILE"):
        valid, expected = value in profiles, f"one of {', '.join(sorted(profiles))}"
    elif name.endswith("_TIME"):
        valid, expected = _is_duration(value), "a duration such as 10m"
    elif name == "PUSHBENCH_DRIVER":
        valid, expected = value in ("docker", "process"), "docker or process"
    elif name == "PUSHBENCH_IMAGES":
        valid, expected = value in ("push", "load"), "push or load"
    elif name == "PUSHBENCH_SITE":
        valid, expected = _is_https(value), "an address that begins with https://"
    elif name == "PUSHBENCH_KEEP_RECORDS":
        valid, expected = re.fullmatch(r"[0-9]{1,6}", value) is not None, "a number"
    return None if valid else expected


def _is_duration(value: str) -> bool:
    try:
        return parse_quantity(value, Unit.SECONDS) > 0
    except UserError:
        return False


def _is_https(value: str) -> bool:
    try:
        parts = urlsplit(value)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and not parts.username


def secrets(facts: Facts) -> Said:
    known = workflow_files.secrets(shown(facts.files)) | set(SECRETS)
    ours = [name for name in shown(facts.secrets) if name.startswith("PUSHBENCH_")]
    page = f"{facts.settings}/secrets/actions"
    fixes = [
        fix(
            f"Did you mean {guess}?" if (guess := nearest(name, known)) else "Delete it.",
            "gh",
            "secret",
            "delete",
            name,
            "--repo",
            facts.name,
            page=page,
        )
        for name in ours
        if name not in known
    ]
    if fixes:
        return missing(f"no workflow reads {', '.join(name for name in ours if name not in known)}", *fixes)
    unset = [name for name in SECRETS if name not in ours]
    return ok(f"{', '.join(ours) or 'none'} set" + (f"; optional: {', '.join(unset)}" if unset else ""))
