"""The answers to requests that are refused."""

from collections.abc import Mapping

from starlette.responses import JSONResponse


def refusal(status: int, reason: str, headers: Mapping[str, str] | None = None) -> JSONResponse:
    return JSONResponse({"error": reason}, status, headers)
