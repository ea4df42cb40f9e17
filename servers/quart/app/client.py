"""The queue of one client, like the queue of each connection in Quart's chat tutorial."""

import asyncio
from collections.abc import AsyncIterator


class Client:
    def __init__(self) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    def send(self, text: str) -> None:
        self._queue.put_nowait(text)

    def end(self) -> None:
        """Makes `texts` end after what is queued."""
        self._queue.put_nowait(None)

    async def texts(self) -> AsyncIterator[str]:
        """Yields the queued texts one after the other, for as long as the client may stay."""
        while (text := await self._queue.get()) is not None:
            yield text
            self._queue.task_done()

    async def all_sent(self) -> None:
        await self._queue.join()
