"""Whether a server turns Nagle's algorithm off, measured from outside by the times of small events.

With Nagle's algorithm, a server's kernel holds back an event until an earlier one is acknowledged. A client that delays
its acknowledgements then gets the events of 40 ms (on Linux) together. A client that acknowledges at once gets each
event when it was sent. A server that is late for another reason is late for both clients. Comparing them therefore
avoids false alarms on a busy machine.
"""

from __future__ import annotations

from collections.abc import Sequence

from pushbench.conformance.rule import Mismatch, rule
from pushbench.conformance.together import together
from pushbench.conformance.token_stream.clients import Clients

PACE, EVENTS = 250, 100
"""One event every 4 ms, for 0.4 s: ten during a delayed acknowledgement. Eight of them are held back for 8 ms or
longer."""
HELD_SECONDS = 0.008
MOST = 1 / 2


@rule("An event does not wait until the one before it is acknowledged: Nagle's algorithm is off.")
async def nagle_is_off(clients: Clients) -> None:
    delayed, prompt = await together(_lateness(clients, delay=delay) for delay in (True, False))
    if waits_for_acknowledgements(delayed, prompt):
        raise Mismatch(
            f"most events within {HELD_SECONDS * 1000:g} ms of the schedule",
            f"{_held(delayed):.0%} later where a client delays its acknowledgements, {_held(prompt):.0%} where not",
        )


async def _lateness(clients: Clients, *, delay: bool) -> list[float]:
    """Seconds by which events arrive later than the most punctual event of the stream."""
    stream = await clients.stream(pace=PACE)
    late = []
    for number in range(EVENTS):
        stream.connection.delay_acknowledgements() if delay else stream.connection.acknowledge()
        [event] = await stream.some(1)
        late.append(event.at - number / PACE)
    return [each - min(late) for each in late]


def waits_for_acknowledgements(delayed: Sequence[float], prompt: Sequence[float]) -> bool:
    """Whether most events are late with delayed acknowledgements, and far fewer without."""
    return _held(delayed) >= MOST and _held(prompt) <= MOST / 2


def _held(late: Sequence[float]) -> float:
    return sum(seconds >= HELD_SECONDS for seconds in late) / len(late)
