"""The webhook gets one message, its address stays secret, and its failure fails no job."""

from __future__ import annotations

import json
from collections.abc import Callable

import httpx
import pytest

from pushbench.ci import webhook

SECRET = "T0000/B0000/XyZ"
ADDRESS = f"https://hooks.example.org/services/{SECRET}"


def post(
    handler: Callable[[httpx.Request], httpx.Response], *texts: str, address: str = ADDRESS
) -> tuple[list[httpx.Request], list[str]]:
    """The sent messages and the notes."""
    sent: list[httpx.Request] = []
    notes: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return handler(request)

    webhook.post(address, list(texts), notes.append, transport=httpx.MockTransport(answer))
    return sent, notes


def test_texts_are_one_message_in_which_slack_sees_no_markup() -> None:
    [request], notes = post(lambda _: httpx.Response(200, text="ok"), "a & b", "<!channel> is\n<https://evil|here>")
    assert (request.method, str(request.url), notes) == ("POST", ADDRESS, [])
    assert json.loads(request.content) == {
        "text": "a &amp; b\n&lt;!channel&gt; is &lt;https://evil|here&gt;",
    }


def test_nothing_is_sent_without_a_text_or_an_address() -> None:
    assert post(lambda _: httpx.Response(200)) == ([], [])
    assert post(lambda _: httpx.Response(200), "x", address="") == ([], [])


@pytest.mark.parametrize(
    "address",
    [
        f"http://hooks.example.org/{SECRET}",
        f"file:///{SECRET}",
        SECRET,
        f"https://hooks.example.org:x/{SECRET}",
        "https://",
    ],
)
def test_only_https_is_used_and_the_note_does_not_name_the_address(address: str) -> None:
    sent, [note] = post(lambda _: httpx.Response(200), "x", address=address)
    assert sent == []
    assert SECRET not in note


def test_a_redirect_is_not_followed() -> None:
    sent, [note] = post(lambda _: httpx.Response(302, headers={"Location": f"https://evil.example/{SECRET}"}), "x")
    assert len(sent) == 1
    assert note == "webhook: it answers 302; the message may be lost"


@pytest.mark.parametrize("error", [httpx.ConnectError, httpx.ReadTimeout, httpx.RemoteProtocolError])
def test_an_error_is_a_note_without_the_address(error: type[httpx.RequestError]) -> None:
    def fail(request: httpx.Request) -> httpx.Response:
        raise error(f"no way to {request.url}", request=request)

    _, [note] = post(fail, "x")
    assert note == f"webhook: it cannot be reached ({error.__name__}); the message is lost"


def test_each_wait_for_it_is_bounded() -> None:
    times = webhook.TIMEOUT.as_dict().values()
    assert all(each is not None and each <= 10 for each in times)
