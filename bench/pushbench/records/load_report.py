"""The load report: what the generator (k6 with `k6/x/push`) reports about one run of one scenario.

It is written by k6's `handleSummary` and read here; this module only describes it. Times are microseconds on
the generator's monotonic clock, counted from the start of the scenario, unless a name says otherwise.
Reports of several generators of one trial add up: see `generator.merging`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import AliasChoices, Field, NonNegativeInt

from pushbench.foundation.model import Document

Histogram = str
"""An HdrHistogram (1 us to 120 s, 3 significant digits) in V2 compressed base64 encoding; values in microseconds."""


class Clients(Document):
    """Clients of one stage, at the end of its steady window."""

    target: NonNegativeInt = Field(description="number of clients that the stage plans")
    playing: NonNegativeInt = Field(
        description="clients that are connected or trying to connect: all that the generator plays"
    )
    connected: NonNegativeInt = Field(description="clients whose connection is open")
    members: NonNegativeInt = Field(description="clients whose join was acknowledged and that have not begun to leave")
    groups: NonNegativeInt = Field(description="groups with at least one member")
    connect_failures: NonNegativeInt = Field(description="connections or joins that failed since the previous stage")
    disconnects: NonNegativeInt = Field(description="connections that the server ended since the previous stage")
    late: NonNegativeInt = Field(
        description="clients that were due to connect before the window and were not members when it began"
    )


class Messages(Document):
    """Messages that were due inside the steady window of the stage."""

    due: NonNegativeInt
    sent: NonNegativeInt
    unsent: NonNegativeInt = Field(
        description="messages that were due, but whose sender had lost its connection or could not write"
    )


class Receipts(Document):
    """The ledger over all (message, member) pairs of the stage: expected = received + superseded + lost."""

    expected: NonNegativeInt
    received: NonNegativeInt = Field(validation_alias=AliasChoices("received", "delivered"))
    lost: NonNegativeInt = Field(description="expected receipts that never arrived, including those of unsent messages")
    duplicate: NonNegativeInt = Field(description="receipts of a message that the member already had")
    out_of_order: NonNegativeInt = Field(description="receipts that arrived after a later message of the same sender")
    ineligible: NonNegativeInt = Field(
        description="receipts by a client that was not a member when the message was sent; not a fault"
    )
    corrupt: NonNegativeInt = Field(
        description="receipts whose content differs from what was sent; counted as not received"
    )
    superseded: NonNegativeInt = Field(
        default=0,
        description="receipts that a newer message of the same sender made unnecessary before they arrived; not a "
        "fault",
    )


class Traffic(Document):
    """Bytes on the clients' sockets inside the steady window (TCP payload), as the server's network traffic.

    The timeline divides seconds as windows are divided, so a window of whole seconds is their sum.
    """

    sent_bytes: NonNegativeInt = Field(description="bytes from clients to server")
    received_bytes: NonNegativeInt = Field(description="bytes from server to clients")


class Rooms(Document):
    """Groups that the server made in a stage's steady window."""

    begun: NonNegativeInt = Field(description="groups whose first member joined in the window")
    ended: NonNegativeInt = Field(
        description="groups that the server ended, and whose last member received the end in the window"
    )


SCHEMA = 6
READABLE = (5, SCHEMA)
"""Schema 6 added outages; the rest of schema 5 is the same."""

Kill = Literal["server", "worker", "service"]
"""What is killed: all processes of the server, one of its workers, or the services that it needs."""

Kind = Literal["own", "each", "first", "last", "gap"]
"""The latencies of an exchange; a suite names them in its users' words."""


class Histograms(Document):
    """Latencies of the exchanges and connects that were due in the stage, measured from their due time.

    The suite's clients determine which of the first five exist.
    """

    own: Histogram | None = Field(None, description="time until the sender has its own message back")
    each: Histogram | None = Field(None, description="time until each receipt")
    first: Histogram | None = Field(None, description="time until the first receipt of an exchange")
    last: Histogram | None = Field(
        None, description="time until the last receipt of an exchange, for exchanges whose receipts all arrived"
    )
    gap: Histogram | None = Field(None, description="time from one receipt of an exchange to the next")
    lateness: Histogram = Field(description="actual send time minus intended send time: the generator's own delay")
    connect: Histogram = Field(
        description="time from when a client was due to connect to its join acknowledgement, including refusals and "
        "retries; a client that never became a member counts with the time that it had waited. With method 1: time "
        "from dialling, for the clients that joined in the stage"
    )


class Beside(Document):
    """The results of one kind of exchange beside the first: each exchange owes one receipt to its client."""

    messages: Messages
    receipts: Receipts
    own: Histogram = Field(description="time from when an exchange was due to its receipt")


class Outage(Document):
    """The results of a kill in the steady window: for messages that were due from a second before it on, and for
    clients whose connections ended in that time.
    """

    kill: Kill
    kill_us: NonNegativeInt = Field(description="planned time of the kill")
    begin_us: NonNegativeInt = Field(
        description="start of the outage's window; messages that are due in the window are counted only here"
    )
    end_us: NonNegativeInt
    disconnects: NonNegativeInt = Field(description="members whose connection ended; they reconnect by themselves")
    attempts: NonNegativeInt = Field(description="attempts of clients to reconnect")
    failed: NonNegativeInt = Field(description="attempts that did not end in a membership")
    not_back: NonNegativeInt = Field(description="clients that were not members again when the window ended")
    back_us: NonNegativeInt | None = Field(
        description="time at which the last client was a member again; null if one never was, or if none was away"
    )
    last_lost_us: NonNegativeInt | None = Field(
        description="due time of the last message that was sent and that a member never received; null for none"
    )
    lost_after: NonNegativeInt = Field(description="lost receipts of messages that were due once all clients were back")
    messages: Messages
    receipts: Receipts
    reconnect: Histogram = Field(
        description="time from when the successful attempt was due to its join acknowledgement"
    )
    away: Histogram = Field(description="time from the end of a client's connection to its next join acknowledgement")


class StageReport(Document):
    """One stage: the load offered in its steady window, and the results."""

    name: str
    parameters: dict[str, str | int | float | bool] = Field(
        description="parameters with other values in this stage than in the load"
    )
    begin_us: NonNegativeInt = Field(description="start of the steady window")
    end_us: NonNegativeInt
    clients: Clients
    messages: Messages
    receipts: Receipts
    arrived: NonNegativeInt = Field(
        description="receipts that arrived inside the steady window, without duplicates, whenever their messages were "
        "due"
    )
    traffic: Traffic
    rooms: Rooms | None = Field(
        default=None, description="groups that the server made; null if the server does not name the groups"
    )
    spun_us: NonNegativeInt = Field(
        description="time that event loops spent polling the kernel without an event, in order to act in time"
    )
    histograms: Histograms
    beside: dict[str, Beside] = Field(
        default={},
        description="exchanges beside the first, by their names in the protocol; the messages, receipts and "
        "histograms above cover only the first one, except for the lateness, which covers all",
    )
    outage: Outage | None = Field(
        default=None,
        description="results of the kill, whose window the messages, receipts and latencies above exclude; null if "
        "nothing was killed",
    )


class LoadTimeline(Document):
    """One entry a second from the start of the scenario to the end of the drain.

    Values count by the second of arrival. Only `expected` and `lost` count by the second in which messages were due, as
    a stage's receipts do by its window: over a window of whole seconds they add up to the stage's.
    """

    clients: list[NonNegativeInt]
    sent: list[NonNegativeInt]
    received: list[NonNegativeInt]
    latency: list[Histogram | None] = Field(
        description="latency of the headline in each second; null for a second without one"
    )
    expected: list[NonNegativeInt] = Field(description="receipts owed for the messages that were due in the second")
    lost: list[NonNegativeInt] = Field(description="expected receipts that never arrived")
    sent_bytes: list[NonNegativeInt] = Field(description="TCP payload from clients to server")
    received_bytes: list[NonNegativeInt] = Field(description="TCP payload from server to clients")


class ReportedError(Document):
    """A failure that clients saw (refused connection, `error` frame, close code), and its count."""

    reason: str
    count: NonNegativeInt


class Shortage(Document):
    """Connections that failed because the generator's own machine lacked something; not among `connect_failures`."""

    reason: Literal["open_files", "addresses", "buffers", "memory"] = Field(
        description="open_files: EMFILE or ENFILE; addresses: EADDRNOTAVAIL; buffers: ENOBUFS; memory: ENOMEM"
    )
    count: NonNegativeInt


class GeneratorVersions(Document):
    extension: str
    k6: str
    go: str


class LoadReport(Document):
    """What one generator process did and saw."""

    schema_: Literal[5, 6] = Field(default=6, alias="schema")
    generator: GeneratorVersions
    protocol: str
    url: str
    seed: int
    segment: str = Field(description='the k6 execution segment that this generator played, e.g. "0:1"')
    parameters: dict[str, str | int | float | bool] = Field(
        description="parameters of the suite, with the values that were used"
    )
    started_unix_us: int
    started_monotonic_us: int = Field(description="CLOCK_MONOTONIC of the machine at the start of the scenario")
    stages: list[StageReport] = Field(description="stages whose steady window ended before the generator was stopped")
    timeline: LoadTimeline
    errors: list[ReportedError]
    shortages: list[Shortage]
