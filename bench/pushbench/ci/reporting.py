"""Brings a workflow run's check, commit status and comment up to date with its current state.

The triggering event and the order of events are irrelevant: everything is read from GitHub again, and written to match.
Artifacts are read as data, only those of trusted runs, and nothing in them is ever executed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from pushbench.ci import drafting_states as states
from pushbench.ci.drafting import Draft, draft, jobs_to_blame, problems
from pushbench.ci.github import GitHub
from pushbench.ci.github_answers import CheckRun, PullRequest, Run
from pushbench.ci.github_changes import changed_paths, home, pull_requests_from
from pushbench.ci.github_connection import GitHubError
from pushbench.ci.github_jobs import errors_of
from pushbench.ci.github_runs import newest_runs
from pushbench.ci.github_statuses import Status, set_status, status
from pushbench.ci.intending import NOT_KNOWN, Promises
from pushbench.ci.plan import Plan
from pushbench.ci.queueing import place, waiting
from pushbench.ci.result import LARGEST_ARCHIVE, OtherSchema, Results, parse_results, unzip
from pushbench.ci.trust import (
    QUEUED,
    WORKFLOW,
    Home,
    Origin,
    Standing,
    Wanted,
    continuing,
    of_foreign_head,
    origin_of,
    standing,
    to_measure,
)
from pushbench.foundation.errors import UserError
from pushbench.foundation.text import one_line
from pushbench.reporting.comment import Link

Note = Callable[[str], None]

CHECK = "Pushbench"
"""the name of the check run and of the commit status: GitHub requires both if a rule requires the name
(https://docs.github.com/en/pull-requests/how-tos/merge-and-close-pull-requests/troubleshooting-required-status-checks)"""
RESULTS, PLAN = "results", "plan"
"""artifacts of a run: from the job that measured, or from the one that planned if there was nothing to measure"""
TELLER = "tell"
"""the job of bench.yml that starts report.yml, and is itself still running then"""
PATIENCE_SECONDS, STEP_SECONDS = 120.0, 5.0
"""for a run whose other jobs have ended"""
MOST_REFRESHED = 5
"""of other runs: about ten requests each, of the thousand per hour that a repository's token has"""


@dataclass(frozen=True)
class Subject:
    """The subject of a run: its commit and pull request."""

    run: Run
    standing: Standing
    pulls: Sequence[PullRequest]
    """open ones whose current head is the commit; the one into the default branch first"""

    @property
    def sha(self) -> str:
        return self.standing.sha


@dataclass(frozen=True)
class Reporter:
    github: GitHub
    home: Home
    folders: frozenset[str]
    """of the servers of the default branch"""
    site: str
    note: Note
    now: datetime
    promises: Promises = NOT_KNOWN
    """of the default branch"""

    def report(self, run: Run) -> Draft:
        """Bring the run's check, status and comment up to date, and update the place of waiting runs."""
        runs = newest_runs(self.github)
        subject = self.subject(run)
        checks = self.github.check_runs(subject.sha, CHECK)
        drafted = self.draft(subject, runs, _others(checks))
        if self.publish(subject, drafted, checks) and drafted.told:
            self._tell(subject, drafted)
        if run.status in ("in_progress", "completed"):
            self._refresh(run, runs)
        return drafted

    def subject(self, run: Run) -> Subject:
        """The subject according to GitHub, never according to an artifact."""
        pulls: list[PullRequest] = []
        if run.event == "pull_request":
            pulls = pull_requests_from(self.github, run)
            found = standing(run, self.home, [each.user.login if each.user else None for each in pulls])
        else:
            found = standing(run, self.home)
        if found.pull_request is not None:
            try:
                pulls = [self.github.pull_request(found.pull_request)]
            except GitHubError as error:
                if error.status != 404:
                    raise
                doubt = f"names the pull request {found.pull_request}, which does not exist"
                found = Standing("doubted", run.head_sha, doubt=doubt)
        if found.continues is not None:
            found = continuing(found, self._standing_of(found.continues))
        current = [each for each in pulls if each.state == "open" and each.head.sha == found.sha]
        return Subject(run, found, sorted(current, key=lambda each: each.base.ref != self.home.default_branch))

    def _standing_of(self, run_id: int) -> Standing | None:
        try:
            return standing(self.github.run(run_id), self.home)
        except GitHubError as error:
            if error.status != 404:
                raise
            return None

    def draft(self, subject: Subject, runs: Sequence[Run], others: Sequence[CheckRun]) -> Draft:
        run, found = subject.run, subject.standing
        notices = [f"Another check run of this commit is also called {CHECK}. It is not ours and does not count."]
        links = [Link("The other check run", each.html_url) for each in others[:1] if each.html_url]
        about = states.About(run, self.site, notices if others else (), links)
        if found.source == "merge_group":
            return states.merge_group(about, *self._queued(run))
        if not found.believed:
            return self._of_doubted(about, subject)
        if run.status != "completed":
            return states.measuring(about, self._wanted(subject), place(run, runs, self.home, self.now))
        jobs = self.github.jobs(run.id)
        if run.conclusion == "action_required" and not jobs:
            return states.approval(about)
        try:
            results, problem = fetch_results(self.github, run)
        except OtherSchema as error:
            return states.other_schema(about, str(error))
        if results and (said := _contradiction(results.result.plan, found)):
            results, problem = None, said
        errors = {job.name: errors_of(self.github, job) for job in jobs_to_blame(jobs)}
        try:
            drafted = draft(
                run,
                jobs,
                results,
                problem,
                site=self.site,
                notices=about.notices,
                errors=errors,
                promises=self.promises,
            )
        except Exception as error:  # a validated document may still break its renderer in any way
            return states.cannot_be_shown(about, error)
        if results and results.result.outcome == "gave-way" and not problems(run, jobs):
            return states.gave_way(about, results)
        idle = results is not None and not results.result.steps and drafted.conclusion in ("success", "action_required")
        if found.pull_request and idle:
            wanted = self._wanted(subject)
            if wanted is None or wanted:
                return states.not_measured(about, found.pull_request, wanted)
        return drafted

    def _of_doubted(self, about: states.About, subject: Subject) -> Draft:
        """The draft for an untrusted run: none of its artifacts is read."""
        found = subject.standing
        if subject.run.event != "pull_request":
            return states.not_believed(about, found.doubt)
        if not subject.pulls:
            return states.without_pull_request(about, found.doubt)
        wanted = self._wanted(subject)
        if wanted is not None and not wanted:
            return states.nothing_to_measure(about)
        return states.waiting(about, subject.pulls[0].number, subject.sha, wanted, found.doubt)

    def _wanted(self, subject: Subject) -> Wanted | None:
        """The measurements that the pull request needs, from GitHub's own list of changed files; None if unknown."""
        if not subject.pulls:
            return None
        pull = subject.pulls[0]
        changed = changed_paths(self.github, pull.number, subject.sha, self.home.default_branch)
        labels = frozenset(label for each in subject.pulls for label in each.label_names)
        return None if changed is None else to_measure(changed, labels, self.folders)

    def _queued(self, run: Run) -> tuple[int | None, str]:
        """The pull request of a merge group, and why it may not be merged, if there is a reason."""
        named = QUEUED.fullmatch(run.head_branch or "")
        if not named or of_foreign_head(run, self.home):
            return None, "its branch names no pull request"
        number = int(named[2])
        try:
            sha = self.github.pull_request(number).head.sha
        except GitHubError as error:
            if error.status != 404:
                raise
            return None, f"pull request {number} does not exist"
        ours = _newest(self.github.check_runs(sha, CHECK))
        said = status(self.github, sha, CHECK)
        passes = ours and ours.conclusion == "success" and said and said.state == "success"
        return number, "" if passes else f"pull request {number} has no successful check {CHECK}"

    def publish(self, subject: Subject, drafted: Draft, checks: Sequence[CheckRun]) -> bool:
        """Write check run and commit status, unless the commit has a verdict that outranks this run's."""
        origin = Origin(subject.run.id, subject.standing.source if drafted.counts else "doubted")
        there = _newest(checks)
        former = origin_of(there.external_id) if there else None
        if former and former.outranks(origin):
            self.note(f"check run: left as it is: that of the run {former.run} ({former.source}) outranks this run")
            return False
        wanted = Status(context=CHECK, state=drafted.state, description=drafted.title, target_url=subject.run.html_url)
        if drafted.conclusion != "success":  # what blocks a merge comes first, in case the other request fails
            set_status(self.github, subject.sha, wanted)
        url = self.github.check_run(
            subject.sha,
            name=CHECK,
            conclusion=drafted.conclusion,
            title=drafted.title,
            summary=drafted.summary,
            annotations=drafted.annotations,
            details_url=subject.run.html_url,
            external_id=str(origin),
            own=origin_of,
        )
        if drafted.conclusion == "success":
            set_status(self.github, subject.sha, wanted)
        self.note(f"check run: {drafted.conclusion or 'in progress'}: {url}")
        return True

    def _tell(self, subject: Subject, drafted: Draft) -> None:
        for pull in subject.pulls:
            url = self.github.upsert_comment(pull.number, comment_mark(drafted), drafted.comment)
            self.note(f"comment: {url}")
        if not subject.pulls and subject.run.event in ("pull_request", "workflow_dispatch"):
            self.note("no comment: the commit is the head of no open pull request now")

    def _refresh(self, run: Run, runs: Sequence[Run]) -> None:
        """Update the place of the waiting runs."""
        for each in [other for other in waiting(runs, self.home) if other.id != run.id][:MOST_REFRESHED]:
            try:
                subject = self.subject(each)
                checks = self.github.check_runs(subject.sha, CHECK)
                there = _newest(checks)
                former = origin_of(there.external_id) if there else None
                if former and former.run == each.id and subject.standing.believed:
                    self.publish(subject, self.draft(subject, runs, _others(checks)), checks)
            except UserError as error:
                self.note(f"the place of the run {each.id} is not refreshed: {error}")


def report(
    github: GitHub,
    run_id: int,
    site: str,
    note: Note,
    *,
    folders: frozenset[str] = frozenset(),
    promises: Promises = NOT_KNOWN,
    patient: bool = False,
    sleep: Callable[[float], None] = time.sleep,
) -> Draft:
    """Bring the check `Pushbench` of the run's commit up to date, and report to the pull request. Raises UserError.

    With `patient`, it waits for a run that is ending: the run's last job may have started this report.
    """
    run = github.run(run_id)
    if run.workflow_file != WORKFLOW and run.event != "pull_request":
        raise _of_another_workflow(run)
    waited = 0.0
    while patient and run.status != "completed" and waited < PATIENCE_SECONDS and _ends(github, run):
        sleep(STEP_SECONDS)
        waited += STEP_SECONDS
        run = github.run(run_id)
    return Reporter(github, home(github), folders, site, note, datetime.now(UTC), promises).report(run)


def comment_mark(drafted: Draft) -> str:
    return drafted.comment.partition("\n")[0]


def expected_run(github: GitHub, run_id: int) -> Run:
    """The run. Raises UserError for a run of another workflow."""
    run = github.run(run_id)
    if run.workflow_file != WORKFLOW:
        raise _of_another_workflow(run)
    return run


def fetch_results(github: GitHub, run: Run) -> tuple[Results | None, str]:
    """The run's results, or why they are unusable; neither if there are none. Raises OtherSchema."""
    artifacts = {each.name: each for each in github.artifacts(run.id) if not each.expired}
    found = artifacts.get(RESULTS) or artifacts.get(PLAN)
    if found is None:
        return None, ""
    try:
        files = unzip(github.download(found, LARGEST_ARCHIVE))
        return parse_results(files, f"artifact {found.name}", ignore_unknown=True), ""
    except OtherSchema:
        raise
    except UserError as error:
        return None, str(error)


def _contradiction(plan: Plan, found: Standing) -> str:
    """Why results do not match the subject of the run, if so. The name of a dispatched run contains user input."""
    if plan.sha != found.sha:
        return f"they are for another commit than {found.sha[:12]}: {one_line(plan.sha, 12)}"
    if found.pull_request is not None and plan.pull_request != found.pull_request:
        return f"they are for another pull request than {found.pull_request}: {plan.pull_request}"
    return ""


def _of_another_workflow(run: Run) -> UserError:
    return UserError(f"the run {run.id} is of {run.workflow_file!r}, not of {WORKFLOW}")


def _ends(github: GitHub, run: Run) -> bool:
    """Whether all jobs of the run have ended, except the reporting one."""
    jobs = [job for job in github.jobs(run.id) if job.name != TELLER]
    return bool(jobs) and all(job.conclusion for job in jobs)


def _newest(checks: Sequence[CheckRun]) -> CheckRun | None:
    return max((each for each in checks if origin_of(each.external_id)), key=lambda each: each.id, default=None)


def _others(checks: Sequence[CheckRun]) -> list[CheckRun]:
    """Check runs of our name that we did not write: a job can have any name."""
    return [each for each in checks if not origin_of(each.external_id)]
