"""The search for the most load that a server carries: what is asked next, and when it is found. Pure.

It climbs by doubling, or faster while the server has time, bisects, and then confirms: the load that was refused is
refused once more, and the load that was carried is held for longer. One answer decides a load on the way, two of a kind
decide the two loads that are reported, so one answer that came by chance moves the search and not the result. What a
server refused before it was warm does not count. The time that is left goes to a refusal that the machine disturbed,
until most of its answers are the server's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from statistics import median_low
from typing import Literal

Answer = Literal["carried", "broken", "generator", "disturbed", "connecting"]
"""carried: within all limits. broken: not. generator: it ended before the server did. disturbed: not carried, while
others took of the machine. connecting: only limits on connecting were broken, which slower ramps may keep"""
End = Literal["limit", "generator", "disturbed", "most", "time"]
"""what the search ended at: a load beyond a limit, the generator, a disturbed machine, the largest load that is asked,
or the time"""

RESOLUTION = 0.03
"""between the carried and the refused load, as a share"""
CLIMB_MOST = 8.0
"""times, from one load that is carried to the next that is asked"""
ROOM = 0.7
"""share of the server's busiest resource that a climb of more than 2 aims at"""
BEYOND = 1.1
"""times what the share promises: where less room is left, a climb aims there, to be refused close to the edge"""
PROMISED_LEAST, PROMISED_MOST = 1.15, 2.0
"""times the carried load"""
WARMER = 0.8
"""times what a unit of load took of the busiest resource: a server that takes less was not warm before"""
COLD = 0.85
"""share of that resource at half of what another start carried: where starts have to warm up, it is not warm yet"""
WARMING_MOST = 5
"""probes"""
GALLOP_WITHIN = 1.25
"""times: a wider gap than this is not bisected while what another start found tells where to look"""
ANSWERS = 2
"""of a kind, for a load that is reported"""
DISTURBED_IS_REFUSED = 2
"""disturbed answers that count as one refusal"""
SLOW_RAMP = 3.0
"""times, where a ramp is made longer"""
NEAR = 1.15
"""times the carried load: a refused one that is farther away says little of the capacity"""
PROBES_MOST = 60


@dataclass(frozen=True)
class Ended:
    """What an earlier start came to."""

    carried: int
    refused: int | None
    end: End
    used: float | None = None
    """share of the server's busiest resource at the carried load"""
    warmed: bool = False
    """it was cold at first: see `warms`"""
    slow: bool = False
    """a longer ramp helped: see `ramps_slowly`"""


@dataclass(frozen=True)
class Hint:
    """Where earlier starts say that the edge is."""

    load: float
    spread: float = RESOLUTION
    """how far the edge may be from `load`, as a share: the first step beyond it"""
    cold: bool = False
    """a start of this server has to warm up"""
    slow: bool = False
    """its clients need a longer ramp"""


@dataclass(frozen=True)
class Plan:
    """What is searched: whole multiples of `step` from `step` to `most`."""

    first: int
    step: int
    most: int
    hint: Hint | None = None


@dataclass(frozen=True)
class Ask:
    """A load that is to be asked; `hold` for longer, `slow` with a longer ramp."""

    load: int
    hold: bool = False
    slow: bool = False
    first: bool = False
    """of its start: the server has just begun"""


@dataclass(frozen=True)
class Asked:
    """What came of it."""

    load: int
    hold: bool
    answer: Answer
    used: float | None = None
    """share of the server's busiest resource"""
    slow: bool = False

    @property
    def cost(self) -> float | None:
        """That share for a unit of load."""
        return self.used / self.load if self.used else None


@dataclass(frozen=True)
class Found:
    """The end of a search. `carried` is 0 where not even the least load was."""

    carried: int
    refused: int | None
    """the least load that was not carried; None where all were"""
    end: End
    confirmed: bool
    """`carried` was held, and `refused` was refused twice"""


Cost = Callable[[Ask], float]
"""seconds that a probe takes"""


def hint_of(starts: Sequence[Ended]) -> Hint | None:
    """Where to look, from what earlier starts came to; None where nobody knows.

    A start that ran out of time carries at least that much. The edge is between the largest such load and the least one
    above it that was refused, or else where the used share of the server's busiest resource says.
    """
    cold, slow = any(start.warmed for start in starts), any(start.slow for start in starts)
    exact = [start.carried for start in starts if start.carried and start.end != "time"]
    if exact:
        return Hint(median_low(exact), cold=cold, slow=slow)
    most = max(starts, key=lambda start: start.carried, default=None)
    if most is None or not most.carried:
        return None
    low = most.carried
    high: float = min((start.refused for start in starts if start.refused and start.refused > low), default=low)
    if high == low and most.used:
        high = low * _promised(most.used) ** 2  # the middle is what the share promises
    times = high / low
    return Hint(low * math.sqrt(times), max(times**0.25 - 1, RESOLUTION), cold, slow)


def warms(asked: Sequence[Asked]) -> bool:
    """Whether the server got warm: it had little room, and then carried a load that is no smaller with clearly less."""
    known = [(each.load, each.used) for each in asked if each.used and each.answer == "carried"]
    return any(
        load <= next_load and used > ROOM and next_used < WARMER * used
        for (load, used), (next_load, next_used) in pairwise(known)
    )


def ramps_slowly(asked: Sequence[Asked]) -> bool:
    """Whether a longer ramp helped."""
    return any(each.slow and each.answer == "carried" for each in asked)


def next_ask(plan: Plan, asked: Sequence[Asked], left: float, cost: Cost) -> Ask | Found:
    """What to ask when so many seconds are left."""
    votes = _Votes(plan, asked)
    if len(asked) < PROBES_MOST:
        for ask in votes.wanted():
            if cost(ask) + (0.0 if ask.hold else votes.reserve(cost)) <= left:
                return ask
    return votes.found()


@dataclass(frozen=True)
class _Votes:
    """What the answers amount to."""

    plan: Plan
    asked: Sequence[Asked]

    def wanted(self) -> Iterator[Ask]:
        """What would be asked, the next one first. The hold comes after what decides the load, or when there is no time
        for that. A search that has all its answers wants nothing."""
        following, hold = self._following(), self._hold()
        if following:
            yield following
        if hold and not (following and following.hold):
            yield hold
        elif not following and self.refused is not None and self._end(self.refused) == "disturbed":
            yield self._ask(self.refused)

    def reserve(self, cost: Cost) -> float:
        """Seconds to keep for the hold."""
        hold = self._hold()
        return cost(hold) if hold else 0.0

    def found(self) -> Found:
        carried, refused = self.carried, self.refused
        held = bool(carried) and self._held(carried)
        if refused is None:
            whole = carried >= self.plan.most
            return Found(carried, None, "most" if whole else "time", confirmed=whole and held)
        narrow, asked = refused - carried <= self._width(carried), held or not carried
        settled = narrow and asked and self._refusals(refused) >= ANSWERS
        near = narrow or refused <= carried * NEAR
        known = near and (asked or self._gave_way(refused))
        return Found(carried, refused, self._end(refused) if known else "time", confirmed=settled)

    @property
    def carried(self) -> int:
        """The largest load that was carried more often than not; 0 for none."""
        return max((load for load in self._loads() if self._score(load) > 0), default=0)

    @property
    def refused(self) -> int | None:
        """The least load above it that was not."""
        above = (load for load in self._loads() if load > self.carried and self._score(load) < 0)
        return min(above, default=None)

    def _hold(self) -> Ask | None:
        """The hold that the last seconds are for, while the carried load was not held.

        A later start that has carried no more than half of what another one found gets no number by holding that. It
        holds what the other one found, or the least load that is near what it refused.
        """
        carried, refused, hint = self.carried, self.refused, self._hinted
        if not carried or self._held(carried):
            return None
        load = carried
        if hint and carried <= self._first():
            near = self.plan.step * math.ceil(refused / NEAR / self.plan.step) if refused else hint
            load = max(carried, near)
        return self._ask(load, hold=True)

    def _following(self) -> Ask | None:
        plan, carried, refused = self.plan, self.carried, self.refused
        if self._is_cold():
            return self._ask(self._first())
        tie = self._tie(carried, refused)
        if tie:
            return tie
        if not any(self._score(load) for load in self._loads()):
            return self._ask(self._first())
        if refused is None:
            if carried < plan.most:
                return self._ask(self._above(carried))
        elif refused - carried > self._width(carried):
            return self._ask(self._between(carried, refused))
        elif self._refusals(refused) < ANSWERS:
            return self._ask(refused, hold=self._gave_way(refused))
        return None

    def _tie(self, carried: int, refused: int | None) -> Ask | None:
        """A load between the two that is as often carried as not, or whose only answer was disturbed. It is held where
        it was held before: that is the answer that counts."""
        for load in sorted(self._loads(), reverse=True):
            between = carried < load and (refused is None or load < refused)
            if between and self._score(load) == 0:
                return self._ask(load, hold=any(each.hold for each in self._of(load)))
        return None

    def _is_cold(self) -> bool:
        """Whether a later start has to warm up: nothing but half of the hint was asked yet, and it was too much."""
        last, first = self.asked[-1] if self.asked else None, self._first()
        if last is None or self.plan.hint is None or any(each.load != first for each in self.asked):
            return False
        busy = self.plan.hint.cold and (last.used or 0.0) > COLD
        return (last.answer == "broken" or busy) and len(self.asked) < WARMING_MOST

    def _first(self) -> int:
        """Half of what another start found: a server that has just begun is slower than it will be."""
        return self._whole(self.plan.hint.load / 2 if self.plan.hint else self.plan.first)

    def _above(self, carried: int) -> int:
        hint = self._hinted
        if hint:
            beyond = sum(hint <= load <= carried for load in self._loads())
            return self._whole(max(carried * self._gallop(beyond - 1), carried + self.plan.step)) if beyond else hint
        used = next((each.used for each in reversed(self.asked) if each.load == carried and each.used), ROOM / 2)
        if used <= ROOM / 2:
            times = min(ROOM / used, CLIMB_MOST)
        else:
            times = PROMISED_MOST if self._warms() else _promised(used)
        return self._whole(max(carried * times, carried + self.plan.step))

    def _between(self, carried: int, refused: int) -> int:
        """Where another start found something at the refused load or above it, the next one is close below."""
        hint, middle = self._hinted, math.sqrt(max(carried, 1) * refused)
        if not carried:
            middle = refused / 2
        if hint and refused <= hint and refused > carried * GALLOP_WITHIN:
            before = sum(refused <= load <= hint for load in self._loads())
            middle = max(middle, refused / self._gallop(before - 1))
        return min(max(self._whole(middle), carried + self.plan.step), refused - self.plan.step)

    def _warms(self) -> bool:
        """Whether the server took less for a unit of load than before, so what it used promises too little."""
        costs = _costs(self.asked)
        return len(costs) > 1 and costs[-1] < WARMER * costs[-2]

    @property
    def _hinted(self) -> int | None:
        return self._whole(self.plan.hint.load) if self.plan.hint else None

    def _gallop(self, times: int) -> float:
        spread = self.plan.hint.spread if self.plan.hint else RESOLUTION
        return 1 + min(spread * 2.0**times, 1.0)

    def _width(self, carried: int) -> int:
        """How far the refused load may be above the carried one."""
        return max(self.plan.step, int(carried * RESOLUTION))

    def _whole(self, load: float) -> int:
        step = self.plan.step
        return min(max(round(load / step) * step, step), self.plan.most)

    def _ask(self, load: int, *, hold: bool = False) -> Ask:
        """With a longer ramp where a shorter one was too fast for this load, and where that helped before, on this
        start or on an earlier one.
        """
        too_fast = any(each.load == load and each.answer == "connecting" for each in self.asked)
        helped = ramps_slowly(self.asked) or (self.plan.hint is not None and self.plan.hint.slow)
        return Ask(load, hold, too_fast or helped, first=not self.asked)

    def _loads(self) -> set[int]:
        return {each.load for each in self._counted if each.answer != "connecting"}

    def _of(self, load: int) -> list[Asked]:
        return [each for each in self._counted if each.load == load]

    @cached_property
    def _counted(self) -> list[Asked]:
        """The answers that count: a refusal does not, where the server took less for a unit of load later."""
        asked = self.asked
        return [each for place, each in enumerate(asked) if not _was_cold(each, asked[:place], asked[place + 1 :])]

    def _held(self, load: int) -> bool:
        return any(each.hold and each.answer == "carried" for each in self._of(load))

    def _gave_way(self, load: int) -> bool:
        """Whether it was held, in vain."""
        return any(each.hold and each.answer == "broken" for each in self._of(load)) and not self._held(load)

    def _refusals(self, load: int) -> int:
        answers = [each.answer for each in self._of(load)]
        disturbed = answers.count("disturbed") // DISTURBED_IS_REFUSED
        return answers.count("broken") + answers.count("generator") + disturbed

    def _score(self, load: int) -> int:
        """Answers for the load less those against it. The longer one says more, so it counts twice against it."""
        carried = sum(each.answer == "carried" for each in self._of(load))
        return carried - self._refusals(load) - self._gave_way(load)

    def _end(self, refused: int) -> End:
        """The server's limit, only where most answers say so."""
        answers = [each.answer for each in self._of(refused)]
        broken, generator = answers.count("broken"), answers.count("generator")
        if broken > max(generator, answers.count("disturbed") // DISTURBED_IS_REFUSED):
            return "limit"
        return "generator" if generator else "disturbed"


def _promised(used: float) -> float:
    """Times the carried load, which used so much of a resource: that is beyond the edge, but close to it."""
    return min(max(BEYOND / used, PROMISED_LEAST), PROMISED_MOST)


def _was_cold(refusal: Asked, earlier: Sequence[Asked], later: Sequence[Asked]) -> bool:
    """Whether the server took clearly less for a unit of load later. One that took as little before was warm: clients
    that connect late, or again, take CPU of their own.
    """
    if refusal.answer != "broken" or not refusal.cost:
        return False
    before, after = (min(_costs(asked), default=math.inf) for asked in (earlier, later))
    return after < WARMER * min(refusal.cost, before)


def _costs(asked: Sequence[Asked]) -> list[float]:
    """For a unit of load, of those that were carried."""
    return [each.cost for each in asked if each.answer == "carried" and each.cost]
