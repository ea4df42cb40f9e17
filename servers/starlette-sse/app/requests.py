"""The requests of a client: parses the query and the header Last-Event-ID, and checks both."""

import re
from dataclasses import dataclass

from starlette.datastructures import Headers, QueryParams
from starlette.exceptions import HTTPException

from app.streams import TEXT

MAX_PACE = 1000


@dataclass(frozen=True)
class StreamRequest:
    """The characters from `first` on, `pace` of them a second or all without a pause."""

    first: int = 0
    pace: int | None = None


def parse_request(query: QueryParams, headers: Headers) -> StreamRequest:
    """Raises an HTTPException with the status 400 unless both values are integers in their range."""
    pace = query.getlist("pace")
    last_id = headers.getlist("last-event-id")
    return StreamRequest(
        first=parse_integer("Last-Event-ID", last_id, 0, len(TEXT) - 1) + 1 if last_id else 0,
        pace=parse_integer("pace", pace, 1, MAX_PACE) if pace else None,
    )


def parse_integer(name: str, values: list[str], least: int, most: int) -> int:
    """Returns the only value, in decimal digits without a sign or a leading zero."""
    match values:
        case [text] if re.fullmatch("0|[1-9][0-9]{0,3}", text) and least <= int(text) <= most:
            return int(text)
    raise HTTPException(400, f"{name} must be an integer from {least} to {most}")
