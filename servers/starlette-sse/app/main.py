"""The Starlette application: /healthz, /metricz and the token stream on /stream."""

import asyncio
import platform
from importlib.metadata import version

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from app.body_limit import BodyLimit
from app.refusals import refusal
from app.requests import StreamRequest, parse_request
from app.streams import Streams

HEALTH = {
    "server": "starlette-sse",
    "runtime": f"{platform.python_implementation()} {platform.python_version()}",
    "framework": f"Starlette {version('starlette')} on uvicorn {version('uvicorn')}",
}


class TokenStream(StreamingResponse):
    """Starlette ends it as soon as the client leaves."""

    media_type = "text/event-stream"

    def __init__(self, streams: Streams, wanted: StreamRequest) -> None:
        super().__init__(streams.events(wanted.first, wanted.pace), headers={"Cache-Control": "no-cache"})
        self.streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.streams.count():
            await super().__call__(scope, receive, send)

    async def stream_response(self, send: Send) -> None:
        try:
            await super().stream_response(send)
        except RuntimeError as error:
            if "the handler is closed" not in str(error):
                raise
            # uvloop has closed the transport, and notifies uvicorn later. Then Starlette cancels this.
            await asyncio.get_running_loop().create_future()


def create_app(streams: Streams) -> Starlette:
    async def healthz(_: Request) -> Response:
        return JSONResponse(HEALTH)

    async def metricz(_: Request) -> Response:
        return JSONResponse({"active_streams": streams.active})

    async def stream(request: Request) -> Response:
        return TokenStream(streams, parse_request(request.query_params, request.headers))

    app = Starlette(
        routes=[Route("/healthz", healthz), Route("/metricz", metricz), Route("/stream", stream)],
        middleware=[Middleware(BodyLimit)],
        exception_handlers={HTTPException: refuse},
    )
    app.router.redirect_slashes = False
    return app


async def refuse(_: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return refusal(error.status_code, error.detail, error.headers)
