"""The words of a suite: its exchanges, its unit of work and its latencies. Every record has them.

An exchange is started by a client, such as a message or a request; it owes receipts. Costs are counted per unit of
work.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from pushbench.foundation.model import Document
from pushbench.records.load_report import Kind

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,29}$")]
"""part of the names of metrics: `delivery` gives `delivery_seconds.p95`"""
Title = Annotated[str, StringConstraints(pattern=r"^[A-Za-z][A-Za-z0-9 -]{0,29}$")]
"""safe in every page and comment, because records come from strangers, too"""
Point = Literal["mean", "p50", "p95", "p99", "max"]
POINTS: tuple[Point, ...] = ("mean", "p50", "p95", "p99", "max")
RESERVED = frozenset({"lateness", "connect", "reconnect", "away"})
"""latencies of every suite, and of every outage"""


class Latency(Document):
    """A latency of the suite, counted from when an exchange was due."""

    title: Title
    until: Kind = Field(
        description="own: until the sender has its own message back; each: until each receipt; first, last: until the "
        "first or last receipt of an exchange; gap: from one receipt to the next"
    )
    shown: Annotated[list[Point], Field(min_length=1)] = Field(
        default=["p50", "p95", "p99"], description="points of the latency that tables, and charts over time, show"
    )


class Exchange(Document):
    """An exchange and its latencies."""

    plural: Title
    latencies: Annotated[dict[Name, Latency], Field(min_length=1, max_length=10)]


class Told(Document):
    """A time that a server reports on GET /metricz, in seconds and by points: `{"p50": 0.0003, "p99": 0.0021}`."""

    title: Title
    points: Annotated[list[Point], Field(min_length=1)] = Field(
        default=["p50", "p99"], description="points that the server reports, and that tables and charts show"
    )


class Work(Document):
    """The unit of work."""

    name: Name
    plural: Title


class Vocabulary(Document):
    """The words of one suite."""

    work: Work
    exchanges: Annotated[dict[Name, Exchange], Field(min_length=1, max_length=5)] = Field(
        description="exchanges by name. The first one makes the unit of work. The others, which clients have beside "
        "it, are named as in their protocol and owe one receipt each, to their client"
    )
    headline: str = Field(description="latency metric that is shown if there is room for only one")
    supersedes: bool = Field(
        default=False,
        description="whether a receipt may make earlier ones unnecessary; these are then superseded, not lost",
    )

    told: Annotated[dict[Name, Told], Field(max_length=5)] = Field(
        default={},
        description="times that servers report about themselves; the metric is the median over the seconds of a stage",
    )
    rooms: Title | None = Field(
        default=None,
        description="title of groups that the server makes and ends while clients play; null without such groups",
    )
    recovers: bool = Field(
        default=False, description="whether clients come back after an outage, so that its metrics can be measured"
    )

    @property
    def exchange(self) -> Exchange:
        """The exchange that makes the unit of work."""
        return next(iter(self.exchanges.values()))

    @property
    def beside(self) -> Mapping[str, Exchange]:
        """The other exchanges, by name."""
        return dict(list(self.exchanges.items())[1:])

    @property
    def latencies(self) -> Mapping[str, Latency]:
        return {name: latency for each in self.exchanges.values() for name, latency in each.latencies.items()}

    @property
    def headline_latency(self) -> str:
        """The name of the latency that the headline is a point of."""
        return self.headline.partition("_seconds.")[0]

    @model_validator(mode="after")
    def _headline_is_a_latency(self) -> Self:
        name, _, point = self.headline.partition("_seconds.")
        own = self.exchange.latencies
        if name not in own or point not in POINTS:
            raise ValueError(f"headline: expected LATENCY_seconds.POINT of {', '.join(own)}")
        if reserved := RESERVED & self.latencies.keys():
            raise ValueError(f"latencies: {min(reserved)} is counted in every suite, choose another name")
        if taken := (RESERVED | self.latencies.keys()) & self.told.keys():
            raise ValueError(f"told: {min(taken)} is a latency, choose another name")
        return self

    @model_validator(mode="after")
    def _beside_is_answered(self) -> Self:
        names = [name for each in self.exchanges.values() for name in each.latencies]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"latencies: {min(twice)} is named by two exchanges")
        for name, each in self.beside.items():
            if [latency.until for latency in each.latencies.values()] != ["own"]:
                raise ValueError(f"{name}: an exchange beside the first has one latency, until own")
        return self


ORIGINAL = Vocabulary(
    work=Work(name="delivery", plural="Deliveries"),
    exchanges={
        "message": Exchange(
            plural="Messages",
            latencies={
                "echo": Latency(title="Echo", until="own", shown=["p50", "p95", "p99", "max"]),
                "delivery": Latency(title="Delivery", until="each", shown=["p50", "p95", "p99", "max"]),
                "fanout": Latency(title="Fan-out", until="last", shown=["p99"]),
            },
        )
    },
    headline="delivery_seconds.p95",
)
"""for records older than vocabularies: there was only one suite"""
