"""Checks of the machine that measures: is it there, alone, new enough, and for this repository only?"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from pushbench.ci.doctor.answers import Runner
from pushbench.ci.doctor.facts import Facts, Hidden, Measured, shown
from pushbench.ci.doctor.finding import Said, fix, missing, ok, unknown
from pushbench.ci.doctor.workflow_files import FOLDER

LABELS = frozenset({"self-hosted", "pushbench"})
LABEL = "pushbench"
RECENT = timedelta(hours=1)
"""a machine registers for one job at a time and is in no list between two jobs"""
MOST_AGE = timedelta(days=30)
"""of a newer release: https://docs.github.com/en/actions/reference/runners/self-hosted-runners"""
JOURNAL = ("journalctl", "-u", "pushbench-runner", "-u", "pushbench-github@*", "-n", "50")
_VERSION = re.compile(r"v?([0-9]{1,4})\.([0-9]{1,6})\.([0-9]{1,6})")


def _page(facts: Facts) -> str:
    return f"{facts.settings}/actions/runners"


def _machines(facts: Facts) -> list[Runner]:
    """The machines with our label, of the repository and of the organisation's groups. Raises NotShown."""
    shared = [] if isinstance(facts.groups, Hidden) else [each for group in facts.groups for each in group.runners]
    return [runner for runner in [*shown(facts.runners), *shared] if LABEL in runner.label_names]


def _online(facts: Facts) -> list[Runner]:
    return [runner for runner in _machines(facts) if runner.status == "online"]


def _worked(facts: Facts) -> Measured | None:
    """The newest run with a job that a machine took."""
    measured = [] if isinstance(facts.measured, Hidden) else facts.measured
    return next((each for each in measured if (job := each.on_machine(LABEL)) and job.runner_name), None)


def _worked_at(facts: Facts) -> datetime | None:
    found = _worked(facts)
    job = found.on_machine(LABEL) if found else None
    return job.completed_at if job else None


def _machines_wanted(facts: Facts) -> int:
    """The number in PUSHBENCH_SHARDS; one if it is hidden or not a number."""
    known = [] if isinstance(facts.variables, Hidden) else facts.variables
    value = next((each.value for each in known if each.name == "PUSHBENCH_SHARDS"), "")
    return int(value) if re.fullmatch(r"[1-9][0-9]?", value, re.ASCII) else 1


def runner(facts: Facts) -> Said:
    online, most = _online(facts), _machines_wanted(facts)
    names = ", ".join(each.name for each in online)
    if len(online) > most:
        do = f"Keep {most}." if most > 1 else "Keep one. To let several share the servers, set PUSHBENCH_SHARDS."
        return missing(f"{len(online)} machines measure: {names}", fix(do, page=_page(facts)))
    for each in online:
        lacking = LABELS - each.label_names
        if lacking:
            do = "Set the machine up again with the present compose/runner; it sends both labels."
            return missing(
                f"{each.name} lacks the label {', '.join(sorted(lacking))}, so no job reaches it",
                fix(do, page=_page(facts)),
            )
    if online:
        return ok(f"{names} {'is' if len(online) == 1 else 'are'} online with the labels {', '.join(sorted(LABELS))}")
    worked = _worked_at(facts)
    if worked and facts.now - worked < RECENT:
        return ok("between two jobs: it ended one within the last hour")
    offline = [each.name for each in _machines(facts)]
    said = f"{', '.join(offline)} is offline" if offline else "no machine has the label pushbench"
    return missing(
        said, fix("Set it up: compose/runner/README.md. Where it is set up, ask it.", *JOURNAL, page=_page(facts))
    )


def runner_version(facts: Facts) -> Said:
    online = _online(facts)
    version = _version(online[0].version or "") if online else None
    if version is None:
        return unknown("known only for a machine that is online" if not online else "GitHub does not report it")
    releases = [each for each in shown(facts.releases) if not each.draft and not each.prerelease]
    newer = [
        each.published_at
        for each in releases
        if each.published_at and (other := _version(each.tag_name)) and other > version
    ]
    name = ".".join(map(str, version))
    if newer and facts.now - min(newer) > MOST_AGE:
        do = "Update it on the machine; compose/runner/README.md says how it renews itself, and why it may not."
        return missing(
            f"{name} is older than GitHub accepts: a newer one has been out for {(facts.now - min(newer)).days} "
            f"days; GitHub allows {MOST_AGE.days}",
            fix(do),
        )
    return ok(f"{name}" + ("" if newer else ", the newest"))


def _version(text: str) -> tuple[int, ...] | None:
    found = _VERSION.fullmatch(text)
    return tuple(map(int, found.groups())) if found else None


def runner_group(facts: Facts) -> Said:
    """A repository's own runner takes no job of another one; an organisation's serves the repositories in its group."""
    if any(LABEL in each.label_names for each in shown(facts.runners)):
        return ok("the machine belongs to this repository alone")
    if facts.repository.owner.type != "Organization":
        return ok("a person's machines belong to one repository each")
    groups = [each for each in shown(facts.groups) if any(LABEL in one.label_names for one in each.runners)]
    workflow = f"{facts.name}/{FOLDER}/bench.yml@".lower()
    for each in groups:
        group = each.group
        named = [path.lower() for path in group.selected_workflows]
        alone = group.restricted_to_workflows and named and all(path.startswith(workflow) for path in named)
        if group.visibility != "selected" or not alone:
            owner = facts.name.partition("/")[0]
            page = f"https://github.com/organizations/{owner}/settings/actions/runner-groups/{group.id:d}"
            do = f"Allow the repository {facts.name} only, and the workflow {FOLDER}/bench.yml only."
            return missing(
                f"other repositories or workflows reach the machine by the group {group.name}", fix(do, page=page)
            )
    if not groups:
        return unknown("known only for a registered machine")
    return ok("its group is for this workflow only")


def machine_token(facts: Facts) -> Said:
    """GitHub shows no tokens. A machine that registers proves that its token works now."""
    worked = _worked_at(facts)
    if _online(facts) or (worked and facts.now - worked < RECENT):
        return ok("works, for the machine registered with it; only the account's page of tokens shows when it expires")
    return unknown(
        "cannot be seen, and no machine is online that would prove it",
        fix("Look for 401, 403 or 404 in what the machine says.", *JOURNAL),
        fix("Look when it expires.", page="https://github.com/settings/personal-access-tokens"),
    )
