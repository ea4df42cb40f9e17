"""Real comparisons with a known answer: a server against itself, with a fault in one arm, another build, or neither.

The records are those of any comparison, and name the injected fault; `error_rates` counts their verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pushbench.building.builds import build_faults
from pushbench.calibration.faults import ALIKE, APART, REBUILT, Fault
from pushbench.calibration.meaningless import BASES, CHANGES, Change, is_read
from pushbench.catalog.servers import select
from pushbench.catalog.suites import Suite, find_suite
from pushbench.comparing.arms import Arm, Arms, prepare_arms
from pushbench.comparing.campaign import Budget, Campaign
from pushbench.drivers.driver import Build
from pushbench.drivers.process import ProcessDriver
from pushbench.foundation.errors import UserError
from pushbench.foundation.git import git
from pushbench.foundation.project import Project
from pushbench.foundation.trees import commit_with, content_at
from pushbench.judging.thresholds import Thresholds
from pushbench.measuring import preparation
from pushbench.measuring.checkout import read_commit
from pushbench.measuring.common import (
    ARMS_APART,
    Options,
    bench_of,
    holding,
    means_of,
    new_record,
    require_no_cluster,
)
from pushbench.measuring.preparation import Prepared
from pushbench.measuring.sides import Side, side_of
from pushbench.records.record import Comparison, Record
from pushbench.watching.progress import Watch

MOST_BYTES = 1 << 20
"""of a source file"""


@dataclass(frozen=True)
class CalibrationRequest:
    suite: str
    profile: str
    servers: Sequence[str]
    fault: Fault
    budget: Budget = field(default_factory=Budget)
    seed: int = 1


def calibrate(
    project: Project, request: CalibrationRequest, options: Options, thresholds: Thresholds, watch: Watch
) -> Record:
    """Run one comparison. Faults need processes, which run in a wrapper in both arms; containers run unwrapped."""
    require_no_cluster(options.driver, ARMS_APART)
    suite = find_suite(project.scenarios, request.suite)
    load = suite.load(request.profile, {})
    commit = read_commit(project.root)
    if not commit:
        raise UserError("not a git checkout", where=str(project.root), hint="a record names the commit it measured")
    apart = request.fault.kind in APART
    head, base = _sides(project, suite, request) if apart else (Side(project, project.root), None)
    chosen = preparation.select_servers(head.project, suite, request.servers, watch.note, options.driver)
    driver = chosen.driver
    if not isinstance(driver, ProcessDriver) and request.fault.kind not in ALIKE:
        raise UserError("faults are injected by the process driver", hint="add --driver process")
    if not isinstance(driver, ProcessDriver) and apart:
        what = f"the driver {driver.name} has one image per commit, so the arms cannot be built separately"
        raise UserError(what, hint="add --driver process, or compare one build with --fault none")
    means = means_of(load, driver, options, watch.note)
    with holding(driver, options, watch):
        binary, built = preparation.build_all(project, chosen, watch.note)
        verified = preparation.verify_all(head.project, built, driver, watch.note) if options.verify else built
        sound = {each.server.id: each for each in verified if isinstance(each.result, Build)}
        if base:
            arms = prepare_arms(head, base, list(sound.values()), driver, options=options, note=watch.note)
            _require_alike(project, request.fault, arms)
        elif isinstance(driver, ProcessDriver):
            arms = _wrapped_arms(project, driver, sound, request.fault)
        else:
            arms = Arms(Arm(driver, sound), Arm(driver, sound))
        bench = bench_of(project, binary, driver, load, means)
        comparison = Comparison(
            base=commit,
            most_rounds=0,
            identical=[],
            one_sided=list(arms.one_sided),
            injected=str(request.fault),
            fixed=not request.budget.until_decided,
        )
        record = new_record(project, load, bench, commit=commit, skipped=chosen.skipped, comparison=comparison)
        campaign = Campaign(project, thresholds, bench, arms, request.budget, request.seed, watch)
        return campaign.play(record, arms.servers)


def _sides(project: Project, suite: Suite, request: CalibrationRequest) -> tuple[Side, Side]:
    """Two builds of the same code: this checkout and its last commit at another path, or that commit and a commit with
    a change without a meaning. Raises UserError for a server that has no such change.
    """
    kind = request.fault.kind
    last = side_of(project, None, "HEAD")
    if kind == REBUILT:
        return Side(project, project.root), last
    ids = preparation.by_suite(project, suite.id, request.servers)[suite.id]
    names = sorted({server.name for server in select(last.catalog(), ids)})
    head = _changed(project, names, CHANGES[kind], kind)
    return head, _changed(project, names, BASES[kind], kind) if kind in BASES else last


def _changed(project: Project, names: Sequence[str], change: Change, kind: str) -> Side:
    """A commit after the last one, with a change of these servers. Raises UserError if one has no such change."""
    texts: dict[str, str] = {}
    for name in names:
        changed = changed_texts(project.root, name, change)
        if not changed:
            raise UserError(f"{name}: the change {kind} does not apply to it")
        texts |= changed
    return side_of(project, None, commit_with(project.root, "HEAD", texts, f"Without a meaning: {kind}"))


def changed_texts(root: Path, server: str, change: Change) -> dict[str, str]:
    """The files of a server in the last commit that a change without a meaning changes, by their paths in the commit;
    empty if the server has no such change.
    """
    folder = f"servers/{server}"
    paths = git(root, "ls-tree", "-r", "-z", "--name-only", "HEAD", "--", f"{folder}/").output.split("\0")
    files = {
        path.removeprefix(f"{folder}/"): content_at(root, "HEAD", path, MOST_BYTES) or ""
        for path in paths
        if is_read(path)
    }
    return {f"{folder}/{path}": text for path, text in change(files).items()} if files else {}


def _require_alike(project: Project, fault: Fault, arms: Arms) -> None:
    """Raises UserError if arms that should be the same are not, or if a change made no other build."""
    same = {*arms.identical}
    if fault.kind == REBUILT and (changed := sorted({*arms.servers} - same)):
        what = f"{', '.join(changed)}: changed since the last commit, so the arms would differ"
        raise UserError(what, where=str(project.root), hint="commit the changes first")
    if fault.kind != REBUILT and same:
        raise UserError(
            f"{', '.join(sorted(same))}: the change {fault} did not change the build", where=str(project.root)
        )


def _wrapped_arms(project: Project, driver: ProcessDriver, sound: Mapping[str, Prepared], fault: Fault) -> Arms:
    """Both arms in the wrapper, which is idle in the base, so that its cost is not part of the difference."""
    faults = build_faults(project)
    base, head = (
        Arm(
            replace(driver, arm="head" if active else "base"),
            {
                name: wrapped(each, fault.wrapper(faults, active=active), fault if active else None)
                for name, each in sound.items()
            },
        )
        for active in (False, True)
    )
    return Arms(base, head)


def wrapped(prepared: Prepared, wrapper: Sequence[str], fault: Fault | None) -> Prepared:
    """The server started by `wrapper`; a fault makes it another build."""
    assert isinstance(prepared.result, Build)
    faulty = fault is not None and fault.kind not in ALIKE
    digest = f"{prepared.digest}+{fault}" if faulty else prepared.digest
    return replace(prepared, digest=digest, result=replace(prepared.result, digest=digest, wrapper=tuple(wrapper)))
