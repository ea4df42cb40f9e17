"""One webhook, for Slack or another service with the same JSON: `{"text": ...}`. It never fails a job.

The address is a secret, because it is enough for posting. No note and no error contains it.
"""

from __future__ import annotations

from collections.abc import Callable

import httpx

from pushbench.foundation.text import one_line

TIMEOUT = httpx.Timeout(10, connect=5)
MOST_TEXT = 3_000
"""characters; Slack truncates messages above 40,000"""


def escaped(text: str) -> str:
    """As Slack requires: only these three characters (https://docs.slack.dev/messaging/formatting-message-text)."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def post(
    address: str, texts: list[str], note: Callable[[str], None], *, transport: httpx.BaseTransport | None = None
) -> None:
    """Send `texts` as one message; does nothing without an address or a text. A failure becomes a note."""
    if not address or not texts:
        return
    message = "\n".join(escaped(one_line(text)) for text in texts)[:MOST_TEXT]
    try:
        url = httpx.URL(address.strip())
        if url.scheme != "https" or not url.host:
            note("webhook: PUSHBENCH_WEBHOOK is not an https address; nothing was sent")
            return
        with (
            httpx.Client(transport=transport, timeout=TIMEOUT, follow_redirects=False) as client,
            client.stream("POST", url, json={"text": message}) as answer,  # the answer is not read
        ):
            if not answer.is_success:
                note(f"webhook: it answers {answer.status_code}; the message may be lost")
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:  # their texts may contain the address
        note(f"webhook: it cannot be reached ({type(error).__name__}); the message is lost")
