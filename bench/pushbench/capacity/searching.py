"""The search for the largest load that a server carries: what to ask next, and when it is found. Pure.

The search climbs by doubling, or faster while the server has room, bisects, and then confirms: it asks the refused load
once more, and holds the carried load for longer. One answer decides a load on the way. Each of the two loads of a
confirmed result needs two equal answers, so one answer by chance moves the search and not the result. A refusal of a
server that was not warm yet does not count. The remaining time goes to a refusal under disturbance, until most of its
answers are the server's. `sweeping` asks several loads one after another where that saves time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from pushbench.capacity.asked import Ask, Asked
from pushbench.capacity.hinting import PROMISED_MOST, RESOLUTION, End, Hint, promised
from pushbench.capacity.warming import FULL, REPEATS_MOST, WARMER, compiles, costs, repeats, was_cold

CLIMB_MOST = 8.0
"""the largest factor from a carried load to the next one asked"""
ROOM = 0.7
"""share of the server's busiest resource that a climb by more than 2 aims at"""
DOUBLINGS_MOST = 3
"""of a step: then every step is the largest one"""
GALLOP_WITHIN = 1.25
"""factor: a wider gap is not bisected while the result of another start shows where to look"""
ANSWERS = 2
"""equal answers that a reported load needs"""
UNSURE_IS_REFUSED = 2
"""disturbed answers that count as one refusal, or unsettled ones"""
LEAD_IN_MOST = 0.8
"""share of a load that leads in at most: close to the edge, clients connect slowly"""
HALF, EIGHTH = 2, 8
"""of the load that another start found: where a later start begins, and where it does if it has to warm up"""
NEAR = 1.15
"""factor on the carried load: a refused load beyond it says little about the capacity"""
CLOSE = 1 + 2 * RESOLUTION
"""factor on the carried load: without time for more, a refused load up to there is its edge"""
PROBES_MOST = 60


@dataclass(frozen=True)
class Plan:
    """The loads to search: whole multiples of `step` from `step` to `most`."""

    first: int
    step: int
    most: int
    hint: Hint | None = None
    sweeps: bool = True
    """clients can stay from one load to the next"""


@dataclass(frozen=True)
class Found:
    """The end of a search. `carried` is 0 if not even the smallest load was carried."""

    carried: int
    refused: int | None
    """the smallest load that was not carried; None if all were"""
    end: End
    confirmed: bool
    """`carried` was held, and `refused` was refused twice, close above it"""


Cost = Callable[[Ask], float]
"""seconds that a probe takes"""


def ramps_slowly(asked: Sequence[Asked]) -> bool:
    """Whether a fast ramp was too fast and a slow one helped."""
    too_fast = any(each.answer == "connecting" for each in asked)
    return too_fast and any(each.slow and each.answer == "carried" for each in asked)


def next_ask(plan: Plan, asked: Sequence[Asked], left: float, cost: Cost) -> Ask | Found:
    """What to ask when `left` seconds remain."""
    votes = Votes(plan, asked)
    if len(asked) < PROBES_MOST:
        for ask in votes.wanted():
            if cost(ask) + (0.0 if ask.hold else votes.reserve(cost, left)) <= left:
                return ask
    return votes.found()


@dataclass(frozen=True)
class Votes:
    """What the answers add up to. The loads of `carried` and `refused` are the edge as far as it is known."""

    plan: Plan
    asked: Sequence[Asked]

    def wanted(self) -> Iterator[Ask]:
        """The asks to consider, the best one first. The hold comes after the ask that decides the load, or takes its
        place when time is short. A search that has all its answers yields none."""
        following, hold = self._following(), self.hold()
        if following:
            yield following
        if hold and not (following and following.hold):
            yield hold
        elif not following and self.refused is not None and self._end(self.refused) == "disturbed":
            yield self.ask(self.refused)

    def reserve(self, cost: Cost, left: float) -> float:
        """Seconds to reserve for the hold, if there is time for it. A refusal comes first: without one, there is no
        number."""
        hold = self.hold() if self.refused is not None else None
        seconds = cost(hold) if hold else 0.0
        return seconds if seconds <= left else 0.0

    def found(self) -> Found:
        carried, refused = self.carried, self.refused
        held = bool(carried) and self._held(carried)
        if refused is None:
            whole, edge = carried >= self.plan.most, self._last_edge()
            if edge and not whole:
                return Found(*edge, "limit", confirmed=False)
            return Found(carried, None, "most" if whole else "time", confirmed=whole and held)
        narrow = refused - carried <= self.width(carried)
        settled = narrow and (held or not carried) and self.refusals(refused) >= ANSWERS
        known = narrow or refused <= carried * NEAR
        return Found(carried, refused, self._end(refused) if known else "time", confirmed=settled)

    def _last_edge(self) -> tuple[int, int] | None:
        """The largest load that was held, and a load close above it that the server refused as often as it carried it:
        the edge when no time is left to decide."""
        held = max((load for load in self.loads() if self._score(load) > 0 and self._held(load)), default=0)
        close = held * CLOSE
        ties = (load for load in self.loads() if held < load <= close and self._score(load) == 0)
        own = (load for load in ties if self._end(load) == "limit" or self._is_unsettled(load))
        refused = min(own, default=None)
        return (held, refused) if refused else None

    @property
    def carried(self) -> int:
        """The largest load that was carried more often than not; 0 for none."""
        return max((load for load in self.loads() if self._score(load) > 0), default=0)

    @property
    def refused(self) -> int | None:
        """The smallest load above `carried` that was refused more often than carried."""
        above = (load for load in self.loads() if load > self.carried and self._score(load) < 0)
        return min(above, default=None)

    def hold(self) -> Ask | None:
        """The hold to spend the last seconds on, as long as the carried load was not held.

        A load far below the refused one gives no number. Then the hold is of the smallest load near the refused one.
        """
        carried, refused = self.carried, self.refused
        if not carried or self._held(carried):
            return None
        load = carried
        if refused is not None and refused > carried * NEAR:
            near = self.plan.step * math.ceil(refused / NEAR / self.plan.step)
            load = max(carried, min(near, refused - self.plan.step))
        return self.ask(load, hold=True, slow=self.plan.sweeps and refused is not None)

    def _following(self) -> Ask | None:
        plan, carried, refused = self.plan, self.carried, self.refused
        warming = self._warming()
        if warming:
            return self.ask(warming)
        tie = self._tie(carried, refused)
        if tie:
            return tie
        if not any(self._score(load) for load in self.loads()):
            return self.ask(self._first())
        if refused is None:
            if carried < plan.most:
                return self.ask(self._above(carried))
        elif refused - carried > self.width(carried):
            return self.ask(self._between(carried, refused))
        elif self.refusals(refused) < ANSWERS:
            return self.ask(refused, hold=self._gave_way(refused))
        return None

    def _tie(self, carried: int, refused: int | None) -> Ask | None:
        """A load between the two that was carried as often as refused, or whose only answer was disturbed or unsettled.
        It is held if it was held before, because that is the answer that counts, and if it was unsettled."""
        for load in sorted(self.loads(), reverse=True):
            between = carried < load and (refused is None or load < refused)
            if between and self._score(load) == 0:
                return self.ask(load, hold=any(each.hold or each.answer == "unsettled" for each in self._of(load)))
        return None

    def _warming(self) -> int | None:
        """The load that warms a cold server up; None for a warm one, or if a refusal shows already where to look.

        After a refusal it is the largest load that was carried, or half of the refused one. After a load that was
        carried it is the same load until the server has room, then a larger one: it climbs from there, wherever another
        start found the edge.
        """
        last = self.asked[-1] if self.asked else None
        if last is None or last.compiled is None:
            return self._first() if self._was_full() else None
        if not compiles(last) or self.refused is not None:
            return None
        if last.by_server or last.answer == "disturbed":
            return self.carried or max(self.whole(last.load / 2), self.plan.step)
        if last.answer != "carried" or last.load >= self.plan.most:
            return None
        return last.load if repeats(self.asked) else self._climb(max(self.carried, last.load))

    def _was_full(self) -> bool:
        """Whether a later start must warm up, as far as can be told without the time of compilers: only half of the
        hint was asked so far, and that was too much."""
        last, first = self.asked[-1] if self.asked else None, self._first()
        if last is None or self.plan.hint is None or any(each.load != first for each in self.asked):
            return False
        busy = self.plan.hint.cold and (last.used or 0.0) > FULL
        return (last.by_server or busy) and len(self.asked) < REPEATS_MOST

    def _first(self) -> int:
        """A share of what another start found: a server that has just begun is slower than later."""
        hint = self.plan.hint
        return self.whole(hint.load / (EIGHTH if hint.compiles else HALF) if hint else self.plan.first)

    def _above(self, carried: int) -> int:
        """The load that another start found; beyond it, steps that double the distance to it, as ratios."""
        hint = self.plan.hint
        if not hint:
            return self._climb(carried)
        if carried < self.whole(hint.load):
            return self.whole(hint.load)
        times = min(max(1 + hint.spread, carried / hint.load), PROMISED_MOST)
        return self.whole(max(carried * times, carried + self.plan.step))

    def _climb(self, carried: int) -> int:
        """The next load without a hint, by the used share of the server's busiest resource."""
        used = self.used(carried)
        if used <= ROOM / 2:
            times = min(ROOM / used, CLIMB_MOST)
        elif self.warms:
            times = PROMISED_MOST
        else:
            doublings = min(self._beyond(), DOUBLINGS_MOST)
            times = min(promised(used) ** 2**doublings, PROMISED_MOST)
        return self.whole(max(carried * times, carried + self.plan.step))

    def _beyond(self) -> int:
        """How many loads were carried since a sweep was carried to its end. Each doubles the next step, as a ratio: the
        used share promised too little."""
        if not self.climbed:
            return 0
        last = max(place for place, each in enumerate(self.asked) if each.slow)
        return sum(each.answer == "carried" for each in self.asked[last + 1 :])

    @property
    def climbed(self) -> bool:
        """Whether a sweep was carried to its end, so that the used share promised too little."""
        return self.refused is None and any(
            each.slow and each.answer == following.answer == "carried" and following.slow
            for each, following in pairwise(self.asked)
        )

    def used(self, load: int) -> float:
        """The share of the server's busiest resource at a load that was asked; half of `ROOM` if it is not known."""
        return next((each.used for each in reversed(self.asked) if each.load == load and each.used), ROOM / 2)

    def _between(self, carried: int, refused: int) -> int:
        """A load between the two: close below the refused one if another start found at least the refused load."""
        hint, middle = self.hinted, math.sqrt(max(carried, 1) * refused)
        if not carried:
            middle = refused / 2
        if hint and refused <= hint and refused > carried * GALLOP_WITHIN:
            before = sum(refused <= load <= hint for load in self.loads())
            middle = max(middle, refused / self.gallop(before - 1))
        return min(max(self.whole(middle), carried + self.plan.step), refused - self.plan.step)

    @property
    def warms(self) -> bool:
        """Whether the server used less per unit of load than before, so that its used share promises too little."""
        found = costs(self.asked)
        return len(found) > 1 and found[-1] < WARMER * found[-2]

    @property
    def hinted(self) -> int | None:
        return self.whole(self.plan.hint.load) if self.plan.hint else None

    def gallop(self, times: int) -> float:
        spread = self.plan.hint.spread if self.plan.hint else RESOLUTION
        return 1 + min(spread * 2.0**times, 1.0)

    def width(self, carried: int) -> int:
        """How far the refused load may be above the carried one."""
        return max(self.plan.step, int(carried * RESOLUTION))

    def whole(self, load: float) -> int:
        step = self.plan.step
        return min(max(round(load / step) * step, step), self.plan.most)

    def ask(self, load: int, *, hold: bool = False, slow: bool = False) -> Ask:
        """The ask, with a slow ramp if a fast one was too fast for this load, or if a slow ramp helped before, on this
        start or an earlier one. As many clients as connected fast before lead in.
        """
        too_fast = any(each.load == load and each.answer == "connecting" for each in self.asked)
        helped = ramps_slowly(self.asked) or (self.plan.hint is not None and self.plan.hint.slow)
        if not (slow or too_fast or helped):
            return Ask(load, hold, first=not self.asked)
        fast = max((each.load for each in self.asked if each.answer == "carried" and not each.slow), default=0)
        return Ask(load, hold, slow=True, first=not self.asked, lead_in=min(fast, int(load * LEAD_IN_MOST)))

    def loads(self) -> set[int]:
        return {each.load for each in self._counted if each.answer != "connecting"}

    def _of(self, load: int) -> list[Asked]:
        return [each for each in self._counted if each.load == load]

    @cached_property
    def _counted(self) -> list[Asked]:
        """The answers that count: a refusal does not if the server used less per unit of load later."""
        asked = self.asked
        return [each for place, each in enumerate(asked) if not was_cold(each, asked[:place], asked[place + 1 :])]

    def _is_unsettled(self, load: int) -> bool:
        return all(each.answer == "unsettled" for each in self._of(load))

    def _held(self, load: int) -> bool:
        return any(each.hold and each.answer == "carried" for each in self._of(load))

    def _gave_way(self, load: int) -> bool:
        """Whether the server failed to hold the load."""
        return any(each.hold and each.answer == "broken" for each in self._of(load)) and not self._held(load)

    def refusals(self, load: int) -> int:
        answers = [each.answer for each in self._of(load)]
        return self._broken(load) + answers.count("generator") + answers.count("disturbed") // UNSURE_IS_REFUSED

    def _broken(self, load: int) -> int:
        """How often the server refused the load. An unsettled answer counts where another one shows a refusal."""
        answers = [each.answer for each in self._of(load)]
        broken, unsettled = answers.count("broken"), answers.count("unsettled")
        return broken + (unsettled if broken else unsettled // UNSURE_IS_REFUSED)

    def _score(self, load: int) -> int:
        """Answers for the load minus those against it. A longer probe shows more, so its refusal counts twice."""
        carried = sum(each.answer == "carried" for each in self._of(load))
        return carried - self.refusals(load) - self._gave_way(load)

    def _end(self, refused: int) -> End:
        """The server's limit, only if most answers agree."""
        answers = [each.answer for each in self._of(refused)]
        generator = answers.count("generator")
        if self._broken(refused) > max(generator, answers.count("disturbed") // UNSURE_IS_REFUSED):
            return "limit"
        return "generator" if generator else "disturbed"
