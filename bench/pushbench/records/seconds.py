"""The data of each second of a trial: columns of one entry a second. Shapes only."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from pushbench.foundation.model import Document

Latencies = list[float | None]
"""one entry a second; null for a second without a receipt"""


class Timeline(Document):
    """Columns of one entry a second, from the start of the load: counts, seconds and bytes of that second.

    A column that the version of the record did not count yet is null. The latency is that of the suite's headline;
    older records call it `delivery`, and the receipts `delivered`.
    """

    clients: list[int]
    sent: list[int]
    received: list[int] = Field(validation_alias=AliasChoices("received", "delivered"))
    latency_p50_seconds: Latencies = Field(validation_alias=AliasChoices("latency_p50_seconds", "delivery_p50_seconds"))
    latency_p95_seconds: Latencies = Field(validation_alias=AliasChoices("latency_p95_seconds", "delivery_p95_seconds"))
    latency_p99_seconds: Latencies = Field(validation_alias=AliasChoices("latency_p99_seconds", "delivery_p99_seconds"))
    latency_max_seconds: Latencies = Field(validation_alias=AliasChoices("latency_max_seconds", "delivery_max_seconds"))
    expected: list[int] | None = Field(
        None, description="receipts owed for the messages that were due in the second, whenever they arrived"
    )
    lost: list[int] | None = Field(None, description="expected receipts that never arrived")
    network_in_bytes: list[int] | None = Field(
        None, description="TCP payload from clients to server, as `network_in_bytes_per_second` of a stage"
    )
    network_out_bytes: list[int] | None = Field(None, description="TCP payload from server to clients")


class Resources(Document):
    """Columns of one entry a second: the server's resources; services and generator in CPU only."""

    seconds: list[float] = Field(description="time of each sample, in seconds from the start of the load")
    cpu_cores: list[float | None]
    memory_bytes: list[int | None]
    threads: list[int | None]
    services_cpu_cores: list[float | None]
    generator_cpu_cores: list[float | None]
    throttled_seconds: list[float | None] | None = Field(
        default=None, description="time for which a CPU quota stopped the server, over its CPUs; null without a quota"
    )
    pod_received_bytes: list[int | None] | None = Field(
        default=None, description="bytes that the server's pod received; null without a pod"
    )
    pod_sent_bytes: list[int | None] | None = None
