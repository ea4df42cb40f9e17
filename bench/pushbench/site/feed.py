"""An Atom feed (RFC 4287) of improvements and regressions. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from html import escape
from urllib.parse import quote, urlencode

from pushbench.foundation.text import one_line
from pushbench.metrics.definitions import Metrics
from pushbench.metrics.units import format_quantity
from pushbench.site.events import Event

ENTRIES = 50
_NAMESPACE = uuid.UUID("0f7f7a2b-35f7-5f57-8f0a-1f9b7a0c2d11")
_NEVER = "1970-01-01T00:00:00Z"


def feed(events: Sequence[Event], metrics: Mapping[str, Metrics], repository: str | None) -> str:
    """The feed of one repository's site. Its addresses are relative to the feed's own, because the site's address is
    unknown. `metrics` are those of each combination.
    """
    newest = sorted(events, key=lambda event: (event.created, event.id), reverse=True)[:ENTRIES]
    updated = newest[0].created if newest else _NEVER
    entries = "".join(_entry(event, metrics[event.combination]) for event in newest)
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom">\n'
        "<title>Pushbench: what became worse or better</title>\n"
        f"<id>urn:uuid:{uuid.uuid5(_NAMESPACE, repository or '')}</id>\n"
        f"<updated>{escape(updated)}</updated>\n<author><name>Pushbench</name></author>\n"
        f'<link rel="self" href="feed.xml"/>\n<link href="./"/>\n{entries}</feed>\n'
    )


def sentence(event: Event, metrics: Metrics) -> str:
    """`node-ws: CPU per delivery worse by 12.1 % at stage 1000: 41 µs, was 36.6 µs`."""
    metric = metrics[event.metric]
    share = f" by {abs(event.after / event.before - 1):.1%}".replace("%", " %") if event.before else ""
    before, after = format_quantity(event.before, metric.unit), format_quantity(event.after, metric.unit)
    where = f"stage {event.stage}" if len(event.stages) == 1 else f"stages {', '.join(event.stages)}"
    return f"{event.server}: {metric.in_sentence} {event.word}{share} at {where}: {after}, was {before}"


def link(event: Event) -> str:
    asked = {"c": event.combination, "stage": event.stage, "metric": event.metric, "s": event.server, "pin": event.run}
    return f"./#/trend?{urlencode(asked, quote_via=quote)}"


def _entry(event: Event, metrics: Metrics) -> str:
    commits = f"{event.previous[:7]}..{event.commit[:7]}" if event.commit and event.previous else event.commit[:7]
    about = one_line(f"{event.combination}, run {event.run}, commit {commits}: {event.subject}")
    return (
        f"<entry><title>{escape(one_line(sentence(event, metrics)))}</title><id>urn:uuid:{event.id}</id>"
        f'<updated>{escape(event.created)}</updated><link href="{escape(link(event))}"/>'
        f'<category term="{event.word}"/><summary>{escape(about)}</summary></entry>\n'
    )
