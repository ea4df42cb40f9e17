"""The first run of a user's own server: a conversation, a short load, and limits from their results."""

from __future__ import annotations

from functools import partial

from pushbench.cli import options
from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project

PROFILE = "compare"
"""its limits apply to the comparisons that follow"""


class NothingUsual(UserError):
    """The server speaks its declared protocol, but the run shows no usual values to derive limits from."""


def first_run(project: Project, name: str) -> str:
    """Return the text of a thresholds.yml. Raises UserError if no run is possible, NothingUsual if the run has none."""
    from pushbench.authoring.promising import thresholds_yml
    from pushbench.catalog.servers import read_catalog, select
    from pushbench.catalog.suites import find_suite
    from pushbench.cli.conclusion import thresholds_of
    from pushbench.cli.interrupting import measure
    from pushbench.cli.protocol import require_spoken
    from pushbench.drivers.choice import DriverChoice
    from pushbench.measuring import run as running
    from pushbench.measuring.common import Options

    [server] = select(read_catalog(project.servers), [name])
    require_spoken(project, server)
    thresholds = thresholds_of(project)
    suite = find_suite(project.scenarios, server.spec.suite)
    how = Options(DriverChoice("process"), verify=False, thresholds=thresholds)
    wanted = running.RunRequest(suite.id, PROFILE, [name], {}, 1, 1)
    record = measure(partial(running.run, project, wanted, how), go_on=lambda path: f"./pushbench judge {path}")
    options.note(f"first run: ./pushbench show {record.id}")
    limits = thresholds_yml(record, name, thresholds)
    if limits is None:
        reasons = [each.message for trial in record.trials for each in trial.validity.reasons]
        what = f"the first run does not count: {reasons[0]}" if reasons else "the first run shows no usual values"
        raise NothingUsual(what, hint=f"see `./pushbench show {record.id}`")
    return limits
