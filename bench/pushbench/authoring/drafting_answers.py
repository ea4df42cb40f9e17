"""How a draft recognises the answers to requests: single answers, or streams of events. Pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pushbench.authoring.addressing import comment
from pushbench.authoring.describing import quoted, yaml_flow
from pushbench.authoring.drafting_bodies import Bodies
from pushbench.authoring.leaves import KIND, Leaves, constants, kind, leaves
from pushbench.authoring.overheard import Conversation, Said
from pushbench.foundation.errors import UserError

MOST_CONDITIONS = 3
"""that recognise an answer: an answer with a long list has hundreds of values"""
_END = re.compile(r"\W*(done|end|eof|stop|close|complete|finish)(ed)?\W*", re.IGNORECASE)
"""a text that ends a stream: the last token may also be the same in all streams"""


@dataclass(frozen=True)
class Answers:
    """Lines of a draft, and whether its messages are JSON."""

    as_json: bool
    transport: Sequence[str] = ()
    message: Sequence[str] = ()
    rest: Sequence[str] = ()
    ended: bool = False
    """each stream has a final event, after which a client may leave"""


def single(talks: Sequence[Conversation], asked: Bodies, ids: Sequence[str]) -> Answers:
    """The lines for requests with one answer each."""
    as_json = asked.as_json
    status, *others = [found for found, _ in Counter(talk.status for talk in talks).most_common()]
    told = [f"decide: also {', '.join(map(str, others))}"] if others else []
    transport = [f"status: {status}{comment(told)}"] if status != 200 or others else []
    has = [leaves("".join(each.text or "" for each in talk.received())) for talk in talks]
    said = [each for each in has if each is not None]
    if not as_json or len(said) < len(has):
        return Answers(as_json, transport)
    message = list(_recognised_answer(said))
    place = _place_of(ids, said)
    if place:
        message.append(f"id: {place} # comes back in the answer")
    same = {at: origin for origin in asked.texts if (at := _same_place(origin, asked.has, said))}
    if same:
        message.append(f"same: {yaml_flow(same)} # comes back unchanged")
    return Answers(as_json, transport, message)


def _recognised_answer(said: Sequence[Leaves]) -> Iterator[str]:
    words = {at: value for at, value in constants(said).items() if isinstance(value, str | bool)}
    chosen = dict(sorted(words.items(), key=lambda pair: pair[0].count("/"))[:MOST_CONDITIONS])
    if chosen:
        yield f"received: {yaml_flow(chosen)} # what all answers contain"


def _same_place(origin: str, asked: Sequence[Leaves], said: Sequence[Leaves]) -> str | None:
    """The pointer at which answers repeat a value of their requests."""
    return next(
        (at for at in said[0] if all(a.get(at, said) == q[origin] for q, a in zip(asked, said, strict=True))), None
    )


def _place_of(ids: Sequence[str], said: Sequence[Leaves]) -> str | None:
    """The pointer at which answers have the ids of their requests."""
    return next((at for at in said[0] if ids and [str(each.get(at)) for each in said] == list(ids)), None)


def streamed(talks: Sequence[Conversation], asked: Bodies, ids: Sequence[str]) -> Answers:
    """The lines for requests with streams of events as answers. Raises UserError for streams without events."""
    events = [talk.received() for talk in talks]
    if not all(events):
        raise UserError("a stream without an event", hint="send requests whose answers have some")
    end = _end_of(events)
    if end is not None:
        events = [each[:-1] for each in events]
    sorts = Counter(_sort(each) for stream in events for each in stream)
    if not sorts:
        raise UserError("streams of one event each", hint="requests with one answer are declared with `http`")
    [(sort, _)] = sorts.most_common(1)
    as_json = asked.as_json and sort is not None
    if not as_json:
        tokens, message, rest = events, ["received: '{any}' # each event is a token"], []
    else:
        tokens = [[each for each in stream if _sort(each) == sort] for stream in events]
        has = [_has(each) for stream in tokens for each in stream]
        message = [f"received: {yaml_flow(_token(tokens))} # the most frequent event"]
        own = [each for each, stream in zip(ids, tokens, strict=False) for _ in stream]
        if place := _place_of(own, has):
            message.append(f"id: {place} # comes back in each token")
        others = [each for stream in events for each in stream if _sort(each) != sort]
        rest = list(_ignored(others, has))
    transport = [_count(tokens, asked), *_number(tokens)]
    if end is not None:
        transport.append(f"end: {quoted(end)} # the last event of each stream")
    return Answers(as_json, transport, message, rest, ended=end is not None)


def _has(event: Said) -> Leaves:
    return leaves(event.text) or {}


def _sort(event: Said) -> tuple[str, ...] | None:
    """The kind of an event; None unless it is JSON."""
    has = leaves(event.text)
    return None if has is None else kind(has)


def _end_of(events: Sequence[Sequence[Said]]) -> str | None:
    """The data of the event that ends each stream and occurs nowhere else in it."""
    last = events[0][-1]
    if any(stream[-1].text != last.text for stream in events):
        return None
    before = {_sort(each) for stream in events for each in stream[:-1]}
    if any(each.text == last.text for stream in events for each in stream[:-1]) or not before:
        return None
    if _sort(last) is None and before == {None} and not _END.fullmatch(last.text or ""):
        return None
    return None if _sort(last) in before - {None} else last.text


def _count(tokens: Sequence[Sequence[Said]], asked: Bodies) -> str:
    counts = sorted({len(stream) for stream in tokens})
    if len(counts) > 1:
        told = f"decide: streams had {', '.join(map(str, counts))}; the request has to say how many"
    else:
        at = next((at for each in asked.has[:1] for at, value in each.items() if value == counts[0]), None)
        told = f"as the request says at {at}" if at else "decide: the server has to send as many in each stream"
    return f"tokens: {counts[-1]} # {told}"


def _number(tokens: Sequence[Sequence[Said]]) -> Iterator[str]:
    """The line for the number of a token, if tokens are numbered from 0."""
    if all(each.id == str(place) for stream in tokens for place, each in enumerate(stream)):
        yield "number: event-id # counts from 0"
        return
    streams = [[_has(each) for each in stream] for stream in tokens if len(stream) > 1]
    for at in streams[0][0] if streams else ():
        if all(
            each.get(at) == place and not isinstance(each.get(at), bool)
            for stream in streams
            for place, each in enumerate(stream)
        ):
            yield f"number: {at} # counts from 0"
            return


def _token(tokens: Sequence[Sequence[Said]]) -> Mapping[str, Any]:
    """The values that recognise a token: its kind, or else the pointer of a text that varies within a stream."""
    streams = [[_has(each) for each in stream] for stream in tokens]
    everything = [each for stream in streams for each in stream]
    alike = constants(everything)
    if any(KIND.search(at) for at in alike):
        return alike
    differ = [at for at in everything[0] if any(len({str(each.get(at)) for each in stream}) > 1 for stream in streams)]
    texts = [at for at in differ if isinstance(everything[0][at], str)]
    return dict.fromkeys([*texts, *differ][:1], "{any}") or alike


def _ignored(others: Sequence[Said], tokens: Sequence[Leaves]) -> Iterator[str]:
    """Patterns for the other events that match no token."""
    sorts: dict[tuple[str, ...], list[Leaves]] = {}
    for each in others:
        if (sort := _sort(each)) is not None:
            sorts.setdefault(sort, []).append(_has(each))
    patterns = []
    for found in sorts.values():
        own = {
            at: value for at, value in constants(found).items() if all(each.get(at, each) != value for each in tokens)
        }
        own = own or {at: "{any}" for at in found[0] if all(at not in each for each in tokens)}
        patterns.append(dict(list(own.items())[:MOST_CONDITIONS]))
    if any(patterns):
        yield f"ignore: {yaml_flow([each for each in patterns if each])} # what else the server sent"
