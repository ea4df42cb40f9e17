"""The faults with which a whiteboard server was started, and the messages that it accepts."""

from __future__ import annotations

import json
from typing import Any

FAULTS = set[str]()
MESSAGE_LIMIT, QUEUE_LIMIT = 65_536, 1 << 20


class Bad(Exception):
    """A message that is answered with an error."""


def check(condition: object, reason: str) -> None:
    if not condition:
        raise Bad(reason)


def parse(text: str) -> dict[str, Any]:
    def no_constant(name: str) -> float:
        check("takes-nan" in FAULTS, f"{name} is no JSON")
        return float(name)

    caught = (ValueError,) if "dies-of-deep-json" in FAULTS else (ValueError, RecursionError)
    try:
        message = json.loads(text, parse_constant=no_constant)
    except caught:
        raise Bad("not JSON") from None
    if not isinstance(message, dict):
        raise Bad("not an object")
    for name in ("boardId", "userId"):
        value = message.get(name)
        longest = 63 if "names-of-63" in FAULTS else 64
        check(isinstance(value, str) and 1 <= len(value) <= longest, f"{name} must have 1 to 64 characters")
    return message


def check_draw(message: dict[str, Any]) -> None:
    for name in ("seq", "sentAt"):
        check(type(message.get(name)) is int and message[name] >= 0, f"{name} must be an integer from 0")
    stroke = message.get("stroke")
    check(isinstance(stroke, list) and stroke, "stroke must have points")
    if "takes-any-stroke" not in FAULTS:
        good = all(
            isinstance(point, list) and len(point) == 2 and all(type(number) in (int, float) for number in point)
            for point in stroke or []
        )
        check(good, "a point is a pair of numbers")
