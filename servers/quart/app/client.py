"""What is queued for one client: the queue that Quart's chat tutorial has for each connection."""

import asyncio
from collections.abc import AsyncIterator


class Client:
    def __init__(self) -> None:
        self._queue: asyncio.Queue[str | None] = asyncio.Queue()

    def send(self, text: str) -> None:
        self._queue.put_nowait(text)

    def end(self) -> None:
        """Lets `texts` end after what is queued."""
        self._queue.put_nowait(None)

    async def texts(self) -> AsyncIterator[str]:
        """Yields what was queued, one after the other, for as long as the client may stay."""
        while (text := await self._queue.get()) is not None:
            yield text
            self._queue.task_done()

    async def all_sent(self) -> None:
        await self._queue.join()
