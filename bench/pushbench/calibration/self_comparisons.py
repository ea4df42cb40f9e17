"""Real comparisons whose answer is known: a server against itself, with a fault in one arm or with none.

The records are those of any comparison, and name the injected fault; `error_rates` counts their verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pushbench.building.builds import build_faults
from pushbench.calibration.faults import ALIKE, REBUILT, Fault
from pushbench.catalog.suites import find_suite
from pushbench.drivers.driver import Build, Driver
from pushbench.drivers.process import ProcessDriver
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.measuring import preparation
from pushbench.measuring.arms import Arm, Arms, prepare_arms
from pushbench.measuring.campaign import Budget, Campaign
from pushbench.measuring.checkout import read_commit
from pushbench.measuring.common import Options, bench_of, holding_machine, means_of, new_record
from pushbench.measuring.preparation import Prepared
from pushbench.measuring.progress import Watch
from pushbench.measuring.sides import Side, side_of
from pushbench.records.record import Comparison, Record


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
    """Run one comparison. Faults need processes, which both arms run in a wrapper; containers run unwrapped."""
    suite = find_suite(project.scenarios, request.suite)
    load = suite.load(request.profile, {})
    commit = read_commit(project.root)
    if not commit:
        raise UserError("not a git checkout", where=str(project.root), hint="a record names the commit it measured")
    chosen = preparation.select_servers(project, suite, request.servers, watch.note, options.driver)
    driver = chosen.driver
    if not isinstance(driver, ProcessDriver) and request.fault.kind not in ALIKE:
        raise UserError("faults are injected by the process driver", hint="add --driver process")
    if not isinstance(driver, ProcessDriver) and request.fault.kind == REBUILT:
        what = f"the driver {driver.name} has one image of a commit, so nothing is built apart"
        raise UserError(what, hint="add --driver process, or compare one build with --fault none")
    means = means_of(load, driver, options, watch.note)
    with holding_machine(options, watch):
        binary, built = preparation.build_all(project, chosen, watch.note)
        verified = preparation.verify_all(project, built, driver, watch.note) if options.verify else built
        sound = {each.server.id: each for each in verified if isinstance(each.result, Build)}
        if request.fault.kind == REBUILT:
            arms = _arms_apart(project, list(sound.values()), driver, options, watch)
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


def _arms_apart(project: Project, sound: Sequence[Prepared], driver: Driver, options: Options, watch: Watch) -> Arms:
    """The servers of this checkout, and the same code built by itself at another path, as a comparison does. Raises
    UserError where the code is not the same.
    """
    arms = prepare_arms(
        Side(project, project.root), side_of(project, None, "HEAD"), sound, driver, options=options, note=watch.note
    )
    if changed := sorted({*arms.servers} - {*arms.identical}):
        what = f"{', '.join(changed)}: changed since the last commit, so the arms would not be alike"
        raise UserError(what, where=str(project.root), hint="commit the changes first")
    return arms


def _wrapped_arms(project: Project, driver: ProcessDriver, sound: Mapping[str, Prepared], fault: Fault) -> Arms:
    """Both arms run in the wrapper, which is idle in the base, so its cost is not part of the difference."""
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
