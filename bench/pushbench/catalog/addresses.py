"""Addresses of servers that run elsewhere. Records contain them, so they have no secret in them."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

SCHEMES = ("ws", "wss", "http", "https")
SECURE = ("wss", "https")
_SECRETS = "secrets of the protocol come from the environment (docs/own-server.md)"


def checked_url(text: str) -> str:
    """The URL of a server, such as `wss://chat.example.org/v1`. Raises ValueError, which never repeats a secret."""
    wanted = f"expected something like wss://chat.example.org, with one of {', '.join(SCHEMES)}"
    try:
        parts = urlsplit(text)
        known = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        known = False
    if not known or re.search(r"[^!-~]", text):
        raise ValueError(wanted)
    if "@" in parts.netloc:
        raise ValueError(f"a URL with a name or a password; {_SECRETS}")
    if parts.query or parts.fragment or "?" in text or "#" in text:
        raise ValueError(f"a URL with a query or a fragment: the query belongs in `path` of the protocol; {_SECRETS}")
    return text.rstrip("/")


def is_secure(url: str) -> bool:
    return urlsplit(url).scheme in SECURE


def name_of(url: str) -> str:
    """A name for the server at the URL: `chat-example-org`, `localhost-8080`."""
    parts = urlsplit(url)
    whole = f"{parts.hostname}-{parts.port}" if parts.port else str(parts.hostname)
    return re.sub(r"[^a-z0-9]+", "-", whole.lower()).strip("-")
