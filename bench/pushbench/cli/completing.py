"""Shell completion of values. It offers nothing in a broken checkout: the command itself reports why."""

from __future__ import annotations

from collections.abc import Iterable

from pushbench.foundation.errors import UserError


def complete_servers(incomplete: str) -> list[str]:
    """Return ids of servers and tiers that begin with `incomplete`, or with its last item if it is a list A,B."""
    from pushbench.catalog.servers import read_catalog
    from pushbench.foundation.project import Project

    before, comma, last = incomplete.rpartition(",")
    try:
        catalog = read_catalog(Project.current().servers)
    except (UserError, OSError):
        return []
    tiers = sorted({f"tier:{each.spec.tier}" for each in catalog})
    return _beginning(last, [*(each.id for each in catalog), *tiers], before + comma)


def complete_suites(incomplete: str) -> list[str]:
    """Return the suites whose names begin with `incomplete`."""
    return _beginning(incomplete, _profiles_by_suite())


def complete_profiles(incomplete: str) -> list[str]:
    """Return the profiles of any suite whose names begin with `incomplete`."""
    return _beginning(incomplete, sorted({name for each in _profiles_by_suite().values() for name in each}))


def _profiles_by_suite() -> dict[str, list[str]]:
    from pushbench.catalog.suites import read_suites
    from pushbench.foundation.project import Project

    try:
        return {each.id: list(each.spec.profiles) for each in read_suites(Project.current().scenarios)}
    except (UserError, OSError):
        return {}


def _beginning(incomplete: str, known: Iterable[str], prefix: str = "") -> list[str]:
    return [prefix + each for each in known if each.startswith(incomplete)]
