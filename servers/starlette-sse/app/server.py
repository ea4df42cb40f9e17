"""uvicorn's server, which ends the streams when it stops."""

import socket

import uvicorn

from app.streams import Streams


class Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, streams: Streams) -> None:
        super().__init__(config)
        self.streams = streams

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Ends the streams as well; uvicorn would wait for them and then cut them.

        A stream is a task that continues only after `super().shutdown` has closed the port and made its connection
        close after the response.
        """
        self.streams.end()
        await super().shutdown(sockets)
