"""Splits a plan over several machines: the servers of each, and its own plan. Pure.

A server is never split: all its steps, with all their arms and rounds, are on one machine. Each machine first measures
the same control server, from which `joining` determines whether the machines are alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pushbench.catalog.servers import Server
from pushbench.catalog.suites import Suite
from pushbench.ci.budget import TOTAL_TIME, Cost, cost_of, total, with_time
from pushbench.ci.plan import Plan
from pushbench.ci.steps import CONTROL_ROUNDS, Settings, Step
from pushbench.foundation.errors import UserError
from pushbench.foundation.text import counted
from pushbench.metrics.units import format_elapsed


def control(servers: Sequence[Server], wanted: Sequence[str], settings: Settings) -> Step:
    """The step that every machine has: a simple server, from the plan if possible. Raises UserError."""
    simple = [each for each in servers if each.spec.tier == "baseline" and not each.spec.services]
    if not simple:
        hint = "add one, or unset PUSHBENCH_SHARDS"
        raise UserError("no server can be the control of several machines: no baseline without services", hint=hint)
    chosen = min(simple, key=lambda each: (each.id not in wanted, each.id))
    load = ["--suite", chosen.spec.suite, "--profile", settings.check_profile, "--servers", chosen.id]
    why = "every machine of the run measures it, which shows whether they are alike"
    arguments = ["run", *load, "--rounds", str(CONTROL_ROUNDS)]
    return Step(kind="machine", arguments=arguments, servers=[chosen.id], why=why)


def share_out(plan: Plan, catalog: Sequence[Server], settings: Settings, suites: Mapping[str, Suite]) -> Plan:
    """The plan with its servers split over the configured number of machines; unchanged for a single machine or a
    single server.
    """
    loads = {
        server: total(cost_of(only(step, [server]), settings, suites) for step in plan.steps if server in step.servers)
        for server in sorted({server for step in plan.steps for server in step.servers})
    }
    machines = min(settings.machines, len(loads))
    if machines < 2:
        return plan
    shards = _balanced({server: load.expected for server, load in loads.items()}, machines)
    common = control(catalog, list(loads), settings)
    times = [total((cost_of(common, settings, suites), *(loads[each] for each in shard))) for shard in shards]
    own = [] if plan.untrusted else common.servers  # strangers' plans build only the changed servers
    return plan.model_copy(
        update={
            "shards": shards,
            "control": common,
            "images": sorted({*plan.images, *own}),
            "notes": [*plan.notes, *_notes(shards, common, times)],
        }
    )


def part(plan: Plan, number: int) -> Plan:
    """The plan of one machine, counted from 1. Raises UserError for a machine that does not exist."""
    if not 1 <= number <= len(plan.shards) or plan.control is None:
        raise UserError(f"the plan has no part {number}: it is for {counted(len(plan.shards) or 1, 'machine')}")
    steps = [plan.control, *(only(plan.steps[at], _of(plan, at, number)) for at in places(plan, number))]
    images = sorted({server for step in steps for server in step.servers} & set(plan.images))
    update = {"steps": steps, "images": images, "notes": [], "shards": [], "control": None, "shard": number}
    return plan.model_copy(update=update)


def places(plan: Plan, number: int) -> list[int]:
    """The steps of the whole plan in which a machine has a part, in order; the control comes before them."""
    return [at for at in range(len(plan.steps)) if _of(plan, at, number)]


def only(step: Step, servers: Sequence[str]) -> Step:
    """The step with these of its servers. A step without names measures all, so it names them now."""
    if list(servers) == step.servers and "--servers" in step.arguments:
        return step
    arguments, named = list(step.arguments), ",".join(servers)
    if "--servers" in arguments:
        arguments[arguments.index("--servers") + 1] = named
    else:
        arguments += ["--servers", named]
    part = step.model_copy(update={"arguments": arguments, "servers": list(servers)})
    if TOTAL_TIME not in arguments:
        return part
    return with_time(part, float(step.argument(TOTAL_TIME).removesuffix("s")) * len(servers) / len(step.servers))


def _of(plan: Plan, at: int, number: int) -> list[str]:
    return [server for server in plan.steps[at].servers if server in plan.shards[number - 1]]


def _balanced(loads: Mapping[str, float], machines: int) -> list[list[str]]:
    """The servers of each machine: the longest one goes to the machine with the least to do."""
    shards: list[list[str]] = [[] for _ in range(machines)]
    for server in sorted(loads, key=lambda each: (-loads[each], each)):
        min(shards, key=lambda shard: sum(loads[each] for each in shard)).append(server)
    return [sorted(shard) for shard in shards]


def _notes(shards: Sequence[Sequence[str]], common: Step, times: Sequence[Cost]) -> list[str]:
    longest = max(each.expected for each in times)
    parts = "; ".join(f"{number}: {', '.join(shard)}" for number, shard in enumerate(shards, 1))
    return [
        f"split over {len(shards)} machines; each also measures {common.servers[0]} {CONTROL_ROUNDS} times; "
        f"the longest takes about {format_elapsed(longest)}",
        f"the servers of each machine: {parts}",
    ]
