"""Joins the results of several machines into those of one run. Pure, except for the history that the judge reads.

Each machine's results were validated when they were read, and here they have to match the machine's part of the plan.
Runs of similar machines become one record, as if one machine had measured it. A machine that differs from the others
gets an environment of its own, so that its numbers are never compared or ranked with theirs. Comparisons stay
unchanged: each was decided by the rows of its own record.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pushbench.ci.judge import Judge
from pushbench.ci.plan import LONGEST_NOTE, Plan
from pushbench.ci.result import Measured, Outcome, Result, Results, Searched, StepResult
from pushbench.ci.sharding import only, part, places
from pushbench.foundation.errors import UserError
from pushbench.foundation.text import MESSAGE, one_line
from pushbench.judging.machines import apart
from pushbench.machine.environment import set_apart
from pushbench.records.capacity import CapacityRecord
from pushbench.records.environment import Environment
from pushbench.records.record import Machine, Record
from pushbench.records.shared import merge

BROKEN: Sequence[Outcome] = ("error", "unfinished", "gave-way")
"""outcomes without information about the measured servers, the worst first"""
NOTHING_LEFT = "it left no results: its job failed, was cancelled, or did not run"


@dataclass(frozen=True)
class Left:
    """A machine's results, or why they are unusable."""

    results: Results | None = None
    problem: str = NOTHING_LEFT


@dataclass(frozen=True)
class _Own:
    """One machine's results, for its part of the plan."""

    number: int
    name: str
    results: Results
    places: Sequence[int]
    """of the steps of the whole plan in which it has a part"""

    @property
    def control(self) -> Iterator[Record]:
        if (number := self.results.result.steps[0].measured) is not None:
            yield self.results.measured[number].record

    def of(self, place: int) -> StepResult | None:
        """Its result for a step of the whole plan; None if it has no part in it."""
        return self.results.result.steps[1 + self.places.index(place)] if place in self.places else None


def join(plan: Plan, left: Mapping[int, Left], judge: Judge) -> Results:
    """The results of the whole plan, from each machine's results by its number. Joined records are judged again.

    A missing result is unfinished, with its reason. Raises UserError for a plan of one machine, and for records that
    cannot belong to one run.
    """
    if not plan.shards:
        raise UserError("the plan is for one machine: there is nothing to join")
    owns, missing = [], {}
    for number in range(1, len(plan.shards) + 1):
        found = left.get(number, Left())
        if found.results is None:
            missing[number] = found.problem
        elif found.results.result.plan != part(plan, number) or not _is_of_its_steps(found.results):
            missing[number] = "its results belong to another plan"
        else:
            name = found.results.result.machine or f"machine-{number}"
            owns.append(_Own(number, name, found.results, places(plan, number)))
    controls: dict[str, list[Record]] = {}
    for own in owns:
        controls.setdefault(own.name, []).extend(own.control)
    reasons = {name: one_line(said, MESSAGE) for name, said in apart(controls, judge.thresholds).items()}
    joined = _Joined(plan, owns, missing, reasons, judge)
    for place in range(len(plan.steps)):
        joined.join_step(place)
    return joined.results()


def _is_of_its_steps(results: Results) -> bool:
    """Whether each record is of servers of its step."""
    for each in results.result.steps:
        servers: set[str] = set()
        if each.measured is not None:
            servers = set(results.measured[each.measured].record.servers)
        elif each.searched is not None:
            servers = {server.server for server in results.searched[each.searched].record.servers}
        if not servers <= set(each.step.servers):
            return False
    return True


@dataclass
class _Joined:
    """The steps so far, and the results that they name."""

    plan: Plan
    owns: Sequence[_Own]
    missing: Mapping[int, str]
    """why machines left no usable results, by their numbers"""
    apart: Mapping[str, str]
    """why machines differ from the others, by their names"""
    judge: Judge
    steps: list[StepResult] = field(default_factory=list)
    measured: dict[int, Measured] = field(default_factory=dict)
    searched: dict[int, Searched] = field(default_factory=dict)

    def join_step(self, place: int) -> None:
        together: dict[str, list[tuple[StepResult, Measured]]] = {}
        for own in self.owns:
            result = own.of(place)
            if result is None:
                continue
            if result.searched is not None:
                self._add_search(own, result, own.results.searched[result.searched].record)
            elif result.measured is None:
                self.steps.append(result)
            else:
                found = self._by_machine(own, own.results.measured[result.measured])
                key = found.record.environment.key if result.step.kind == "run" else str(own.number)
                together.setdefault(key, []).append((result, found))
        for group in together.values():
            self._add(place, group)
        for number, said in self.missing.items():
            if place in places(self.plan, number):
                at = 1 + places(self.plan, number).index(place)
                step = part(self.plan, number).steps[at]
                self.steps.append(StepResult(step=step, outcome="unfinished", seconds=0, said=said, measured=None))

    def _add(self, place: int, group: Sequence[tuple[StepResult, Measured]]) -> None:
        """Add the measurements of one or several similar machines as one record, which is judged again."""
        whole = self.plan.steps[place]
        servers = [each for each in whole.servers if any(each in result.step.servers for result, _ in group)]
        step = whole if servers == whole.servers else only(whole, servers)
        record = merge([found.record for _, found in group])
        explanations = [
            each.model_copy(update={"record": record.id}) for _, found in group for each in found.explanations
        ]
        verdict, number = self.judge.run(step, record), len(self.steps) + 1
        broken = next((each for each in BROKEN if any(result.outcome == each for result, _ in group)), None)
        self.measured[number] = Measured(record, verdict, explanations)
        self.steps.append(
            StepResult(
                step=step,
                outcome=broken or verdict.outcome,
                seconds=max(result.seconds for result, _ in group),
                said=one_line("; ".join(filter(None, (result.said for result, _ in group))), MESSAGE),
                measured=number,
            )
        )

    def _add_search(self, own: _Own, result: StepResult, record: CapacityRecord) -> None:
        record = record.model_copy(update={"environment": self._environment(own, record.environment)})
        number, found = len(self.steps) + 1, Searched(record, self.judge.search(record))
        self.searched[number] = found
        outcome = result.outcome if result.outcome in BROKEN else found.outcome
        self.steps.append(result.model_copy(update={"outcome": outcome, "searched": number}))

    def _by_machine(self, own: _Own, found: Measured) -> Measured:
        """The measurement with the name of the machine."""
        record = found.record
        machine = Machine(name=own.name, servers=record.servers, apart=self.apart.get(own.name, ""))
        update = {"environment": self._environment(own, record.environment), "machines": [machine]}
        return replace(found, record=record.model_copy(update=update))

    def _environment(self, own: _Own, environment: Environment) -> Environment:
        return set_apart(environment, own.name) if own.name in self.apart else environment

    def results(self) -> Results:
        count = len(self.plan.shards)
        said = [f"machine {number} of {count}: {problem}" for number, problem in self.missing.items()]
        said += [f"the machine {name} is not like the others: {reason}" for name, reason in self.apart.items()]
        plan = self.plan.model_copy(
            update={
                "steps": [each.step for each in self.steps],
                "notes": [*(one_line(each, LONGEST_NOTE) for each in said), *self.plan.notes],
            }
        )
        machines: dict[str, Machine] = {}
        for own in self.owns:
            before = machines[own.name].servers if own.name in machines else []
            servers = sorted([*before, *self.plan.shards[own.number - 1]])
            machines[own.name] = Machine(name=own.name, servers=servers, apart=self.apart.get(own.name, ""))
        result = Result(plan=plan, steps=self.steps, machines=list(machines.values()))
        return Results(result, self.measured, self.searched)
