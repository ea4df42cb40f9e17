"""HdrHistograms of latencies: decode, add and query them. Encoded as in the load report; callers get seconds."""

from __future__ import annotations

import binascii
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram

LOWEST_US, HIGHEST_US, DIGITS = 1, 120_000_000, 3  # the range that the generator records with
MICROSECOND = 1e-6
FEWEST_RARE = 10
"""values beyond a percentile: with fewer, it depends on single values"""

_BROKEN = (HdrCookieException, HdrLengthException, binascii.Error, zlib.error, TypeError, ValueError)


@dataclass(frozen=True)
class Summary:
    """The points of a distribution that metrics name, in seconds."""

    mean: float
    p50: float
    p95: float
    p99: float
    max: float


class Latencies:
    """A distribution of latencies."""

    def __init__(self) -> None:
        self._hdr = HdrHistogram(LOWEST_US, HIGHEST_US, DIGITS)

    @classmethod
    def decode(cls, text: str) -> Latencies:
        """Raises ValueError for anything but an encoded histogram."""
        latencies = cls()
        try:
            latencies._hdr.add(HdrHistogram.decode(text))
        except _BROKEN as error:
            raise ValueError(f"not an HdrHistogram in V2 compressed base64 encoding: {error}") from None
        return latencies

    @classmethod
    def total(cls, parts: Iterable[Latencies]) -> Latencies:
        """The distribution of all parts together: counts add, whereas percentiles could never be averaged."""
        latencies = cls()
        for part in parts:
            latencies._hdr.add(part._hdr)
        return latencies

    def record(self, seconds: float, count: int = 1) -> None:
        microseconds = round(seconds / MICROSECOND)
        self._hdr.record_value(min(max(microseconds, LOWEST_US), HIGHEST_US), count)

    @property
    def count(self) -> int:
        return int(self._hdr.get_total_count())

    def summary(self) -> Summary | None:
        """The summary; None if nothing was recorded."""
        if not self.count:
            return None
        points = self._hdr.get_percentile_to_value_dict([50, 95, 99, 100])
        return Summary(
            *(value * MICROSECOND for value in (self._mean(), points[50], points[95], points[99], points[100]))
        )

    def rare(self, share: float) -> float | None:
        """The seconds that a share of the values reach or exceed; None if these are fewer than `FEWEST_RARE`."""
        if share * self.count < FEWEST_RARE:
            return None
        return float(self._hdr.get_value_at_percentile(100 * (1 - share))) * MICROSECOND

    def tail(self, steps: int) -> list[float]:
        """For n = 0, 1, ... the seconds that a share of 10**(-n / steps) of the values reach or exceed, until that
        share is less than one value. With 8 steps n = 8 is the p90, n = 16 the p99.
        """
        counts = np.array(self._hdr.encoder.payload.counts[:], dtype=np.int64)
        at = np.flatnonzero(counts)
        reached = np.cumsum(counts[at])
        last = int(np.floor(steps * np.log10(self.count) + 1e-9)) if self.count else -1
        ranks = np.maximum(1, np.ceil(self.count * (1 - 10 ** (-np.arange(last + 1) / steps)) - 1e-6))
        found = at[np.searchsorted(reached, ranks)]
        return [
            self._hdr.get_highest_equivalent_value(self._hdr.get_value_from_index(int(i))) * MICROSECOND for i in found
        ]

    def encode(self) -> str:
        return str(self._hdr.encode().decode("ascii"))

    def _mean(self) -> float:
        """The mean as the library computes it; its loop over 18,432 buckets in Python takes a second for a trial."""
        hdr, total = self._hdr, 0.0
        for index, count in enumerate(hdr.encoder.payload.counts[:]):
            if count:
                value = hdr.get_value_from_index(index)
                total += (
                    count * (hdr.get_lowest_equivalent_value(value) + hdr.get_highest_equivalent_value(value) + 1) / 2
                )
        return total / self.count
