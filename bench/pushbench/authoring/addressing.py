"""The address and the headers of a draft, common to all transports. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlsplit

from pushbench.authoring.describing import quoted, yaml_flow
from pushbench.authoring.leaves import GROUP, SECRET
from pushbench.authoring.overheard import Conversation
from pushbench.authoring.withholding import Secrets
from pushbench.foundation.text import one_line

Differing = Callable[[Sequence[str]], str]
"""the placeholder for values that differ between conversations"""


@dataclass(frozen=True)
class Address:
    path: str
    """a template, with its query"""
    guesses: Sequence[str]
    places: Sequence[Sequence[str]]
    """the values in each place that differs, by conversation"""

    @property
    def line(self) -> str:
        return f"path: {quoted(self.path)}{comment(self.guesses)}"


def address(
    paths: Sequence[str],
    secrets: Secrets,
    *,
    differing: Differing,
    group_in_path: bool = False,
    group_in_query: bool = False,
) -> Address:
    """The template that covers all paths."""
    urls = [urlsplit(path) for path in paths]
    guesses: list[str] = []
    places: list[Sequence[str]] = []
    rows = [url.path.split("/") for url in urls]
    parts = rows[0]
    if len({len(row) for row in rows}) == 1:
        columns = list(zip(*rows, strict=True))
        for place, found in enumerate(columns):
            if len(set(found)) > 1:
                parts[place] = differing(found)
                guesses.append(f"what differs is {parts[place]}")
                places.append(found)
        if group_in_path and not places and len(parts) > 2 and parts[-1]:
            guesses.append(f"the group is guessed to be {parts[-1]!r}")
            parts[-1] = "{group}"
    pairs = []
    queries = [dict(parse_qsl(url.query, keep_blank_values=True)) for url in urls]
    for name, value in queries[0].items():
        values = [query.get(name, "") for query in queries]
        shown = quote(value, safe="")
        if SECRET.search(name):
            shown = secrets.query(name)
            guesses.append(f"{name} is a secret")
        elif len(set(values)) > 1:
            shown = differing(values)
            guesses.append(f"{name} differs, so it is {shown}")
            places.append(values)
        elif group_in_query and GROUP.search(name):
            shown = "{group}"
            guesses.append(f"{name} is the group")
        pairs.append(f"{quote(name, safe='')}={shown}")
    return Address("/".join(parts) + ("?" + "&".join(pairs) if pairs else ""), guesses, places)


def header_lines(
    talks: Sequence[Conversation], secrets: Secrets, *, differing: Differing, implied: str = ""
) -> Iterator[str]:
    """The line of the headers, if there are any. The media type that the file implies is left out."""
    first = talks[0]
    made: dict[str, str] = {}
    guesses = []
    for name, value in first.headers.items():
        found = [talk.headers.get(name, "") for talk in talks]
        if name.lower() == "content-type" and value.partition(";")[0].strip().lower() == implied:
            continue
        made[name] = value
        if len(set(found)) > 1:
            made[name] = differing(found)
            guesses.append(f"{name} differs, so it is {made[name]}")
    if first.secret_headers:
        made |= {name: secrets.header(name) for name in first.secret_headers}
        guesses.append("a secret is the whole value, the same for all clients")
    if made:
        yield f"  headers: {yaml_flow(made)}{comment(guesses)}"


def comment(guesses: Sequence[str]) -> str:
    """The comment at the end of a line, with open decisions first; guesses may contain untrusted text."""
    ordered = sorted(guesses, key=lambda guess: not guess.startswith("decide:"))
    return f" # {one_line('; '.join(ordered))}" if guesses else ""
