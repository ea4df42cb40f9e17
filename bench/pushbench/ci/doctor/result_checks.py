"""Checks of the results: a first run, the check and the comment, history, site, images, the branch rule."""

from __future__ import annotations

from fnmatch import fnmatchcase

from pushbench.ci.doctor.answers import Run
from pushbench.ci.doctor.facts import Absent, Facts, Hidden, shown
from pushbench.ci.doctor.finding import Fix, Said, fix, missing, ok, unknown
from pushbench.ci.doctor.gathering import CHECK
from pushbench.ci.doctor.machine_checks import LABEL

NEVER_REQUIRE = frozenset(
    {"admit", "bench", "clean", "command", "continue", "deploy", "foreign-images", "gate", "images", "join", "night"}
    | {"own-server", "plan", "publish", "report", "tell", "watch"}
)
"""jobs: those of a fork's own workflow can claim anything, and skipped ones count as passed"""
RULESET = ".github/ruleset.json"


def _dispatch(facts: Facts) -> Fix:
    command = ("gh", "workflow", "run", "bench.yml", "--repo", facts.name, "-f", "profile=smoke", "-f", "rounds=1")
    return fix("Start a short one.", *command, page=f"https://github.com/{facts.name}/actions/workflows/bench.yml")


def _run_page(facts: Facts, run: Run) -> str:
    return f"https://github.com/{facts.name}/actions/runs/{run.id:d}"


def first_run(facts: Facts) -> Said:
    measured = shown(facts.measured)
    jobs = [(each.run, job) for each in measured if (job := each.on_machine(LABEL))]
    for run, job in jobs:
        if job.runner_name:
            return ok(f"run {run.id} reached {job.runner_name}: {run.conclusion or run.status}")
    waiting = [run for run, job in jobs if job.status == "queued"]
    if waiting:
        do = "The job waits for a machine with both labels; see the lines runner and machine-token."
        return missing(f"run {waiting[0].id} waits for the machine", fix(do, page=_run_page(facts, waiting[0])))
    said = f"none of the last {len(measured)} runs reached the machine" if measured else "bench.yml never ran"
    return missing(said, _dispatch(facts))


def first_report(facts: Facts) -> Said:
    reports = shown(facts.reports)
    done = next((run for run in reports if run.conclusion == "success"), None)
    if done:
        return ok(f"run {done.id} of report.yml reported a result")
    if reports:
        return missing(
            f"report.yml ran, but never succeeded: {reports[0].conclusion or reports[0].status}",
            fix(
                "Read why.",
                "gh",
                "run",
                "view",
                str(reports[0].id),
                "--repo",
                facts.name,
                "--log-failed",
                page=_run_page(facts, reports[0]),
            ),
        )
    return missing("report.yml never ran; it follows bench.yml", _dispatch(facts))


def history(facts: Facts) -> Said:
    found = facts.history
    if isinstance(found, Hidden):
        return unknown(found.why)
    if isinstance(found, Absent):
        do = "Push to the default branch, or merge; publish.yml makes the branch when that was measured."
        return missing(
            "the branch gh-pages is not there",
            fix(do, page=f"https://github.com/{facts.name}/actions/workflows/publish.yml"),
        )
    return ok("the branch gh-pages is there")


def pages(facts: Facts) -> Said:
    found = facts.pages
    if isinstance(found, Hidden):
        return unknown(found.why)
    page = f"{facts.settings}/pages"
    if isinstance(found, Absent):
        command = ("gh", "api", "-X", "POST", f"repos/{facts.name}/pages", "-f", "build_type=workflow")
        return missing(
            "disabled, so there is no site", fix("Choose GitHub Actions as the source.", *command, page=page)
        )
    if found.build_type != "workflow":
        command = ("gh", "api", "-X", "PUT", f"repos/{facts.name}/pages", "-f", "build_type=workflow")
        return missing(
            "built from a branch, so what publish.yml deploys is not shown",
            fix("Choose GitHub Actions as the source.", *command, page=page),
        )
    return ok(f"deployed by GitHub Actions: {found.html_url}")


def pages_environment(facts: Facts) -> Said:
    """https://docs.github.com/en/rest/deployments/environments; publish.yml deploys as the default branch."""
    found = facts.environment
    if isinstance(found, Hidden):
        return unknown(found.why)
    if isinstance(found, Absent):
        return ok("github-pages is not there yet: the first deployment makes it")
    branch = facts.repository.default_branch
    policy = found.policy
    allowed = policy is None or any(fnmatchcase(branch, pattern) for pattern in found.branches)
    if policy is not None and policy.protected_branches:
        allowed = shown(facts.branch).protected
    if allowed:
        return ok(f"{branch} may deploy to github-pages")
    command = (
        "gh",
        "api",
        "-X",
        "POST",
        f"repos/{facts.name}/environments/github-pages/deployment-branch-policies",
        "-f",
        f"name={branch}",
    )
    do = "Allow it under Deployment branches and tags."
    if policy is not None and policy.protected_branches:
        return missing(
            f"{branch} may not deploy to github-pages: protected branches only, and it is not",
            fix(do, page=f"{facts.settings}/environments"),
        )
    return missing(f"{branch} may not deploy to github-pages", fix(do, *command, page=f"{facts.settings}/environments"))


def required_check(facts: Facts) -> Said:
    required = shown(facts.required)
    page = f"{facts.settings}/rules"
    jobs = sorted(name for name in required if name.rpartition(" / ")[2] in NEVER_REQUIRE)
    if jobs:
        do = f"Take them out of the rule; {CHECK} is all that has to be required."
        return missing(
            f"the branch requires jobs: {', '.join(jobs)}",
            fix(do, page=page),
            fix("Rules of the older kind are here.", page=f"{facts.settings}/branches"),
        )
    if CHECK in required:
        return ok(f"{facts.repository.default_branch} requires {CHECK}")
    command = ("gh", "api", "-X", "POST", f"repos/{facts.name}/rulesets", "--input", RULESET)
    how = fix(f"Require {CHECK} on the default branch.", *command, page=page)
    said = f"{facts.repository.default_branch} does not require {CHECK}, so a red pull request can be merged"
    if isinstance(facts.passed, Hidden) or facts.passed:
        return missing(said, how)
    first = (
        "The page offers a check for seven days after it passed, and none of the newest runs did: open a pull request "
        "that changes a sentence of the README."
    )
    return missing(said, fix(first), how)


def images(facts: Facts) -> Said:
    packages = facts.packages
    if isinstance(packages, Hidden):
        page = "https://github.com/settings/tokens"
        return unknown(
            packages.why, fix("Let gh see images.", "gh", "auth", "refresh", "--scopes", "read:packages", page=page)
        )
    if not packages:
        return missing("no image was pushed yet; the first run makes them", _dispatch(facts))
    foreign = [
        each for each in packages if each.repository is None or each.repository.full_name.lower() != facts.name.lower()
    ]
    if foreign:
        names = ", ".join(each.name for each in foreign)
        do = "Connect it to the repository, and give the repository the role Write under Manage Actions access."
        return missing(
            f"not linked to {facts.name}, so its jobs may not push or pull: {names}",
            *[fix(do, page=_package_page(facts, each.html_url, each.name)) for each in foreign],
        )
    public = [each.name for each in packages if each.visibility == "public"]
    if facts.repository.private and public:
        return missing(
            f"anyone can pull images of a private repository: {', '.join(public)}",
            fix(
                "A public package cannot be made private again: delete it, and the next run pushes it.",
                page=f"https://github.com/{facts.name}/pkgs/container",
            ),
        )
    are = "image is" if len(packages) == 1 else "images are"
    return ok(f"{len(packages)} {are} linked to the repository, {len(public)} public")


def _package_page(facts: Facts, address: str, name: str) -> str:
    """The package's page, at `address` if that is on GitHub."""
    own = address.startswith("https://github.com/")
    return f"{address}/settings" if own else f"https://github.com/{facts.name}/pkgs/container/{name}"
