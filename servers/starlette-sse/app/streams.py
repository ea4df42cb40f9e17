"""The streams in progress: their number, the pauses between their events, and their end when the server stops."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

TEXT = (Path(__file__).parents[1] / "text.txt").read_bytes().decode()


class Streams:
    def __init__(self) -> None:
        self.active = 0
        self._is_ended = False
        self._pauses: set[asyncio.Future[None]] = set()

    @contextmanager
    def count(self) -> Iterator[None]:
        self.active += 1
        try:
            yield
        finally:
            self.active -= 1

    async def events(self, first: int, pace: int | None) -> AsyncIterator[str]:
        """Yields each character from `first` on as an event, `pace` of them a second or all without a pause."""
        start = asyncio.get_running_loop().time()
        for number in range(first, len(TEXT)):
            if pace is not None:
                # Counted from the start, so that a late event does not delay those after it.
                await self._pause_until(start + (number - first) / pace)
                if self._is_ended:
                    return
            yield f"id: {number}\ndata: {TEXT[number]}\n\n"

    def end(self) -> None:
        """Ends the streams in progress and future ones, at their next pause."""
        self._is_ended = True
        for pause in self._pauses:
            wake(pause)

    async def _pause_until(self, due: float) -> None:
        """Returns at the time `due`, or at once when the streams end."""
        loop = asyncio.get_running_loop()
        if due <= loop.time() or self._is_ended:
            return
        pause = loop.create_future()
        timer = loop.call_at(due, wake, pause)
        self._pauses.add(pause)
        try:
            await pause
        finally:
            self._pauses.remove(pause)
            timer.cancel()


def wake(pause: "asyncio.Future[None]") -> None:
    if not pause.done():
        pause.set_result(None)
