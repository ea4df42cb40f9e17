"""The bytes that the server of token streams sends."""

from __future__ import annotations

from collections.abc import Collection


def answer(status: int, kind: str, body: bytes, fields: str = "") -> bytes:
    head = f"HTTP/1.1 {status} Said\r\nContent-Type: {kind}\r\n{fields}Content-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def chunk(octets: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(octets), octets)


def event(text: str, number: int, faults: Collection[str]) -> bytes:
    data = text[number]
    if "takes-bytes-for-characters" in faults:
        data = data if data.isascii() else "?"
    lines = [f"id: {number}", f"data: {data}"]
    if "writes-no-space" in faults:
        lines[1] = f"data:{data}"
    if "numbers-from-1" in faults:
        lines[0] = f"id: {number + 1}"
    if "names-events" in faults:
        lines.append("event: token")
    if "says-when-to-retry" in faults and number == 0:
        lines.append("retry: 1000")
    return "\n".join([*lines, "", ""]).encode()
