"""A comparison, from the request to the record: both arms built, then rounds until everything is decided.

One harness drives both arms: this checkout's Python, k6 and scenario.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pushbench.building.builds import Note
from pushbench.catalog.servers import read_catalog
from pushbench.catalog.suites import Load, find_suite, read_suites
from pushbench.comparing.arms import prepare_arms
from pushbench.comparing.campaign import Budget, Campaign
from pushbench.comparing.concurrent_rounds import MOST
from pushbench.comparing.explaining import explain_worse, worse_in_cpu
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.foundation.trees import content_at
from pushbench.judging import accepting
from pushbench.judging.foresight import rounds_needed, too_short
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.thresholds_reader import known_suites
from pushbench.judging.verdict import judge
from pushbench.measuring import preparation
from pushbench.measuring.checkout import read_commit
from pushbench.measuring.common import (
    ARMS_APART,
    Options,
    bench_of,
    holding,
    means_of,
    new_record,
    require_live,
    require_no_cluster,
    streaming,
)
from pushbench.measuring.plan import trial_seconds
from pushbench.measuring.sides import Side, repository_named, side_of
from pushbench.records.record import Accepting, Comparison, Record
from pushbench.watching.progress import Watch


@dataclass(frozen=True)
class CompareRequest:
    """What to compare. No `head` means the work tree, no `servers` all of the suite that can be built here.

    New lines that accept a regression have effect if the work tree's thresholds.yml has them, or the file beside a
    server's description. Those of a `head` that is a commit have effect if `accept` is set.
    """

    suite: str
    profile: str
    base: str
    head: str | None = None
    servers: Sequence[str] = ()
    parameters: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    seed: int = 1
    accept: bool = False
    explain: bool = False
    """after the last round, profile the servers that got worse in CPU, in the time left of the budget"""


def compare(
    project: Project, request: CompareRequest, options: Options, thresholds: Thresholds, watch: Watch
) -> Record:
    """Measure until every row is decided, or rounds or time are used up.

    Raises UserError before anything is measured when the request is invalid.
    """
    require_no_cluster(options.driver, ARMS_APART)
    require_live(options)
    suite = find_suite(project.scenarios, request.suite)
    load = suite.load(request.profile, request.parameters)
    if not thresholds.suite(suite.id).regressions:
        raise UserError(f"no metric of {suite.id} has a margin to compare by", where=str(project.thresholds))
    repository = repository_named(project, request.servers)
    head, base = (side_of(project, repository, ref) for ref in (request.head, request.base))
    base_commit = read_commit(base.root)
    assert base_commit, "it was checked out"
    accepted = read_accepting(project, head, base_commit.sha, request, watch.note)
    chosen = preparation.select_servers(head.project, suite, request.servers, watch.note, options.driver)
    chosen = replace(chosen, servers=head.at(chosen.servers))
    if doubt := _too_short(load, request.budget, [server.id for server in chosen.servers], thresholds):
        watch.note(doubt)
    means = means_of(load, chosen.driver, options, watch.note)
    with holding(chosen.driver, options, watch):
        binary, built = preparation.build_all(project, chosen, watch.note)
        arms = prepare_arms(head, base, built, chosen.driver, options=options, note=watch.note)
        for server in arms.identical:
            watch.note(f"{server}: not measured: its build is that of the base")
        bench = bench_of(project, binary, chosen.driver, load, means)
        comparison = Comparison(
            base=base_commit,
            most_rounds=0,
            identical=arms.identical,
            one_sided=list(arms.one_sided),
            accepting=accepted,
        )
        record = new_record(
            project,
            load,
            bench,
            commit=read_commit(head.root),
            skipped=chosen.skipped,
            live=options.live is not None,
            comparison=comparison,
        )
        bench = streaming(bench, options, record, watch)
        budget = request.budget
        if options.driver.port is not None and budget.together:
            watch.note("one arm after the other: with --port both would need the same port")
            budget = replace(budget, together=False)
        campaign = Campaign(project, thresholds, bench, arms, budget, request.seed, watch)
        servers = [server for server in arms.servers if server not in arms.identical]
        ends_at = time.monotonic() + min(budget.seconds * len(servers), budget.all_seconds)
        record = campaign.play(record, servers)
        if request.explain:
            worse = worse_in_cpu(record, judge(record, thresholds).changes)
            seconds = ends_at - time.monotonic()
            explain_worse(project, record, bench, arms, worse=worse, seconds=seconds, watch=watch)
        return record


def _too_short(load: Load, budget: Budget, servers: Sequence[str], thresholds: Thresholds) -> str:
    """A warning if the time, or the rounds, cannot decide much; otherwise empty.

    How many rounds the machine plays at the same time is not known yet.
    """
    seconds = trial_seconds(load.schedule) * (1 / MOST if budget.together else 2)
    needed = rounds_needed(thresholds, load.suite, servers)
    return too_short(dict.fromkeys(servers, seconds), budget.allowed, needed)


def read_accepting(project: Project, head: Side, base: str, request: CompareRequest, note: Note) -> list[Accepting]:
    """The lines of the head's files that accept a regression, and that the commit `base` does not have.

    Raises UserError for a file that cannot be read although its lines are to have effect.
    """
    suites = known_suites(read_suites(project.scenarios))
    found: list[Accepting] = []
    for path, servers in _thresholds_files(head).items():
        try:
            found += _new_lines(head, path, base, request, accepting.Known(suites, servers))
        except UserError as error:
            if request.accept:
                raise
            note(f"no line that accepts a regression takes effect: {error}")
    return found


def _thresholds_files(head: Side) -> dict[str, dict[str, str]]:
    """The paths of the thresholds.yml files of a side, and the suites of the servers that each may name.

    A server's own file comes first, because its lines take precedence over the checkout's. Another repository has no
    other file.
    """
    elsewhere, top = head.root != head.project.root, head.repository or head.root
    catalog = read_catalog(head.project.servers)
    found: dict[str, dict[str, str]] = {}
    for server in catalog:
        if server.thresholds_file.is_relative_to(top) and (server.described or not elsewhere):
            path = server.thresholds_file.relative_to(top).as_posix()
            found.setdefault(path, {})[server.id] = server.spec.suite
    if not elsewhere:
        found[accepting.FILE] = {server.id: server.spec.suite for server in catalog}
    return {path: servers for path, servers in found.items() if (head.root / path).exists()}


def _new_lines(head: Side, path: str, base: str, request: CompareRequest, known: accepting.Known) -> list[Accepting]:
    """The lines of one file; see `read_accepting`."""
    if request.head:
        text = content_at(head.root, "HEAD", path, accepting.LARGEST_FILE)
    else:
        text = (head.root / path).read_text(encoding="utf-8")
    if not text:
        return []
    before = content_at(head.root, base, path, accepting.LARGEST_FILE)
    confirmed = request.accept or not request.head
    return accepting.new_lines(text, before, request.suite, known, confirmed=confirmed)
