"""Parameters of a load that clients of declared protocols do not send to the server."""

from __future__ import annotations

from pushbench.catalog.suites import Load, find_suite
from pushbench.records.record import Finding


def not_followed(load: Load) -> list[Finding]:
    """A finding for each stage with a parameter that only the suite's own protocols follow."""
    suite = find_suite(load.scenario.parent, load.suite)
    return [
        Finding(
            code="not_followed",
            message=f"{name} is {value:g}, which a declared protocol does not ask for: the pace is the server's own",
            stage=index,
        )
        for index, stage in enumerate(load.schedule.stages)
        for name in suite.spec.undeclared_parameters
        if isinstance(value := (load.parameters | stage.parameters).get(name), int | float) and value
    ]
