"""The load report: what the generator (k6 with `k6/x/push`) reports about one run of one scenario.

It is written by k6's `handleSummary` and read here; this module only describes it. Times are microseconds on
the generator's monotonic clock, counted from the start of the scenario, unless a name says otherwise.
Reports of several generators of one trial add up: see `load.merge`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import AliasChoices, Field, NonNegativeInt

from pushbench.foundation.model import Document

Histogram = str
"""An HdrHistogram (1 us to 120 s, 3 significant digits) in V2 compressed base64 encoding; values in microseconds."""


class Clients(Document):
    """Clients of one stage, at the end of its steady window."""

    target: NonNegativeInt = Field(description="clients that the stage asks for")
    playing: NonNegativeInt = Field(description="clients that are connected or try to be: all that the generator plays")
    connected: NonNegativeInt = Field(description="clients whose connection is open")
    members: NonNegativeInt = Field(description="clients whose join was acknowledged and that have not begun to leave")
    groups: NonNegativeInt = Field(description="of clients, with at least one member")
    connect_failures: NonNegativeInt = Field(description="connections or joins that failed since the stage before")
    disconnects: NonNegativeInt = Field(description="connections that the server ended since the stage before")
    late: NonNegativeInt = Field(
        description="clients that were due to connect before the window and were no members when it began"
    )


class Messages(Document):
    """Messages that were due inside the steady window of the stage."""

    due: NonNegativeInt
    sent: NonNegativeInt
    unsent: NonNegativeInt = Field(description="due, but the sender had lost its connection or could not write")


class Receipts(Document):
    """The ledger over all (message, member) pairs of the stage: expected = received + superseded + lost."""

    expected: NonNegativeInt
    received: NonNegativeInt = Field(validation_alias=AliasChoices("received", "delivered"))
    lost: NonNegativeInt = Field(description="expected and never received, receipts of unsent messages included")
    duplicate: NonNegativeInt = Field(description="received again by a member that already had it")
    out_of_order: NonNegativeInt = Field(description="received after a later message of the same sender")
    ineligible: NonNegativeInt = Field(description="received by a client that was no member when it was sent; no fault")
    corrupt: NonNegativeInt = Field(description="received with another content than was sent; counted as not received")
    superseded: NonNegativeInt = Field(
        default=0,
        description="not received before a newer message of the same sender, which makes it needless; no fault",
    )


class Traffic(Document):
    """Bytes on the clients' sockets inside the steady window (TCP payload), as the server's network traffic.

    The timeline divides seconds as windows are divided, so a window of whole seconds is their sum.
    """

    sent_bytes: NonNegativeInt = Field(description="clients to server")
    received_bytes: NonNegativeInt = Field(description="server to clients")


class Rooms(Document):
    """Groups that the server made in a stage's steady window."""

    begun: NonNegativeInt = Field(description="whose first member joined in it")
    ended: NonNegativeInt = Field(description="that the server ended, and whose last member heard so in it")


SCHEMA = 6
READABLE = (5, SCHEMA)
"""Schema 6 added outages; what 5 has is the same."""

Kill = Literal["server", "worker", "service"]
"""What is killed: all processes of the server, one of its workers, or the services that it needs."""

Kind = Literal["own", "each", "first", "last", "gap"]
"""What is measured of an exchange; a suite gives these names in its users' words."""


class Histograms(Document):
    """Latencies of the exchanges and connects that were due in the stage, measured from their due time.

    The suite's clients determine which of the first five exist.
    """

    own: Histogram | None = Field(None, description="the sender gets its own message back")
    each: Histogram | None = Field(None, description="every receipt")
    first: Histogram | None = Field(None, description="the first receipt of an exchange")
    last: Histogram | None = Field(None, description="the last receipt, of exchanges whose receipts all came")
    gap: Histogram | None = Field(None, description="from one receipt of an exchange to the next")
    lateness: Histogram = Field(description="real send minus intended send: the generator's own delay")
    connect: Histogram = Field(
        description="from the moment at which a client was due to connect to its join acknowledgement, refusals and "
        "retries included; a client that never became a member counts with the time that it had waited. "
        "With method 1: from dialling, of the clients that joined in the stage"
    )


class Beside(Document):
    """The results of one kind of exchange beside the first: each exchange owes one receipt to its client."""

    messages: Messages
    receipts: Receipts
    own: Histogram = Field(description="from when it was due to its receipt")


class Outage(Document):
    """The results of a kill in the steady window: for messages that were due from a second before it on, and for
    clients whose connections ended in that time.
    """

    kill: Kill
    kill_us: NonNegativeInt = Field(description="when something was to be killed")
    begin_us: NonNegativeInt = Field(description="messages that were due from then to the end are counted here alone")
    end_us: NonNegativeInt
    disconnects: NonNegativeInt = Field(description="members whose connection ended; they connect again by themselves")
    attempts: NonNegativeInt = Field(description="to connect again")
    failed: NonNegativeInt = Field(description="of these, not ended by a membership")
    not_back: NonNegativeInt = Field(description="clients that were no members again when the window ended")
    back_us: NonNegativeInt | None = Field(
        description="when the last client was a member again; null where one never was, or none was away"
    )
    last_lost_us: NonNegativeInt | None = Field(
        description="when the last message was due that was sent and that a member never got; null for none"
    )
    lost_after: NonNegativeInt = Field(description="receipts of messages that were due once all clients were back")
    messages: Messages
    receipts: Receipts
    reconnect: Histogram = Field(
        description="from the moment at which the attempt that succeeded was due to its join acknowledgement"
    )
    away: Histogram = Field(description="from the end of a client's connection to its next join acknowledgement")


class StageReport(Document):
    """One stage: the load offered in its steady window, and the results."""

    name: str
    parameters: dict[str, str | int | float | bool] = Field(description="those that are others than the load's")
    begin_us: NonNegativeInt = Field(description="start of the steady window")
    end_us: NonNegativeInt
    clients: Clients
    messages: Messages
    receipts: Receipts
    arrived: NonNegativeInt = Field(
        description="first receipts inside the steady window, whenever their messages were due"
    )
    traffic: Traffic
    rooms: Rooms | None = Field(default=None, description="where the server names the groups")
    spun_us: NonNegativeInt = Field(description="time that event loops asked the kernel in vain, to act in time")
    histograms: Histograms
    beside: dict[str, Beside] = Field(
        default={},
        description="exchanges beside the first, by the names that the protocol has for them; messages, receipts and "
        "histograms above are of the first one, but for the lateness, which is of all",
    )
    outage: Outage | None = Field(
        default=None, description="messages, receipts and latencies above are without those of its window"
    )


class LoadTimeline(Document):
    """One entry a second from the start of the scenario to the end of the drain.

    Values count by the second of arrival. Only `expected` and `lost` count by the second in which messages were due, as
    a stage's receipts do by its window: over a window of whole seconds they add up to the stage's.
    """

    clients: list[NonNegativeInt]
    sent: list[NonNegativeInt]
    received: list[NonNegativeInt]
    latency: list[Histogram | None] = Field(description="the headline's of that second; null when there were none")
    expected: list[NonNegativeInt] = Field(description="receipts owed of the messages that were due in that second")
    lost: list[NonNegativeInt] = Field(description="of these, never received")
    sent_bytes: list[NonNegativeInt] = Field(description="TCP payload, clients to server")
    received_bytes: list[NonNegativeInt] = Field(description="TCP payload, server to clients")


class ReportedError(Document):
    """A failure that clients saw (refused connection, `error` frame, close code), and its count."""

    reason: str
    count: NonNegativeInt


class Shortage(Document):
    """Connections that failed because the generator's own machine lacked something; not among `connect_failures`."""

    reason: Literal["open_files", "addresses", "buffers", "memory"] = Field(
        description="EMFILE or ENFILE, EADDRNOTAVAIL, ENOBUFS, ENOMEM"
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
    parameters: dict[str, str | int | float | bool] = Field(description="of the suite, as they were used")
    started_unix_us: int
    started_monotonic_us: int = Field(description="CLOCK_MONOTONIC of the machine at the start of the scenario")
    stages: list[StageReport] = Field(description="those whose steady window ended before the generator was ended")
    timeline: LoadTimeline
    errors: list[ReportedError]
    shortages: list[Shortage]
