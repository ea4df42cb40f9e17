"""A run as one HTML file: small, complete, without a script or a request, and inert whatever a record contains."""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from http.server import HTTPServer
from pathlib import Path

import pytest

from pushbench.judging.verdict import Verdict, judge
from pushbench.records.record import Record, Trial
from pushbench.records.seconds import Resources, Timeline
from pushbench.reporting import report
from tests.factories import SERVERS, failed, make_record, make_thresholds, make_trial
from tests.reporting.shown_records import CONTROL, HOSTILE, bad, hostile
from tests.serving import LOOPBACK, QuietHandler, serving

MOST_BYTES = 300_000
SECONDS = 75
"""of a load of the profile quick"""
ELEMENTS = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "br", "strong", "small", "div", "pre"),
    *("table", "thead", "tbody", "tr", "th", "td", "ul", "li", "details", "summary"),
    *("figure", "figcaption", "svg", "path", "rect", "text"),
}
CHROMIUM = next(
    (found for name in ("chromium-headless-shell", "chromium", "google-chrome") if (found := shutil.which(name))), ""
)

Html = Callable[[Record], str]


@pytest.fixture
def html(tmp_path: Path) -> Html:
    def rendered(record: Record) -> str:
        verdict: Verdict = judge(record, make_thresholds(tmp_path))
        return report.html(record, verdict)

    return rendered


class Elements(HTMLParser):
    """The elements and texts of a page, as parsed by a browser."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def by_second(trial: Trial, factor: float) -> Trial:
    """The trial with a timeline by the second."""
    seconds = range(SECONDS)
    latencies: list[float | None] = [factor * (0.001234 + 0.0000317 * second) for second in seconds]
    counts = [1000 + second for second in seconds]
    timeline = Timeline(
        clients=counts,
        sent=counts,
        received=counts,
        latency_p50_seconds=latencies,
        latency_p95_seconds=latencies,
        latency_p99_seconds=latencies,
        latency_max_seconds=latencies,
    )
    resources = Resources(
        seconds=[second + 0.123 for second in seconds],
        cpu_cores=[factor * 0.01234 * second for second in seconds],
        memory_bytes=[int(factor * 61_234_567) + second for second in seconds],
        threads=[11] * SECONDS,
        services_cpu_cores=[None] * SECONDS,
        generator_cpu_cores=[0.2] * SECONDS,
    )
    return trial.model_copy(update={"timeline": timeline, "resources": resources})


def quick() -> Record:
    return make_record([by_second(make_trial(server), 1 + place / 3) for place, server in enumerate(SERVERS)])


def test_four_servers_are_far_below_what_mail_bears(html: Html) -> None:
    text = html(quick())
    assert 10_000 < len(text.encode()) < MOST_BYTES
    page = Elements(text)
    assert page.names.count("figure") == 5
    assert len(re.findall(r'class="line ', text)) == 5 * len(SERVERS) + len(SERVERS), (
        "a line in each chart and a legend"
    )
    assert "Ranking by delivery p95, at 1,000 clients" in page.texts
    assert page.names.count("details") == 4


def test_it_refers_to_nothing(html: Html) -> None:
    for record in (quick(), bad(), hostile()):
        page = Elements(html(record))
        assert set(page.names) <= ELEMENTS
        assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("href", "src", "style")]


def test_its_policy_allows_its_own_style_and_nothing_else(html: Html) -> None:
    text = html(quick())
    [policy] = [value for name, value in Elements(text).attributes if value.startswith("default-src")]
    [style] = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def test_what_a_record_says_stays_text(html: Html) -> None:
    breaking = '</script></style></title></pre><img src=x onerror="alert(1)">'
    trials = [
        by_second(make_trial(f"a{breaking}"), 1.0),
        failed(HOSTILE, message=breaking, log=f"{breaking}\n{HOSTILE}"),
    ]
    record = make_record(trials, parameters={"pattern": breaking})
    page = Elements(html(record))
    assert set(page.names) <= ELEMENTS
    assert any(breaking in text for text in page.texts)
    assert CONTROL.search(html(record)) is None


def test_trouble_is_told_as_in_a_terminal(html: Html) -> None:
    texts = Elements(html(bad())).texts
    assert "FAIL" in texts
    assert "fastapi: loss 20.3 % at 1,000 clients, limit 1 %" in texts
    assert "20.3 !" in texts
    assert any("BindException" in text for text in texts)


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """Yields the address of a server, and the requested paths."""
    paths: list[str] = []

    class Handler(QuietHandler):
        def do_GET(self) -> None:  # noqa: N802 - a name that http.server asks for
            paths.append(self.path)
            self.send_response(404)
            self.end_headers()

    with serving(HTTPServer((LOOPBACK, 0), Handler)) as host:
        yield f"http://{host}", paths


@pytest.mark.slow
@pytest.mark.skipif(not CHROMIUM, reason="needs Chromium: install it from your package manager (chromium)")
def test_it_opens_from_the_disk_and_asks_for_nothing(html: Html, tmp_path: Path, asked: tuple[str, list[str]]) -> None:
    url, paths = asked
    asking = f'<img src="{url}/image"><script src="{url}/script"></script><link rel=stylesheet href="{url}/style">'
    record = make_record([by_second(make_trial(f"{server}{asking}"), 1.0) for server in SERVERS])

    def opened(name: str, text: str) -> str:
        (tmp_path / name).write_text(text)
        flags = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
        argv = [CHROMIUM, *flags, "--dump-dom", (tmp_path / name).as_uri()]
        return subprocess.run(argv, capture_output=True, text=True, check=True, timeout=60).stdout

    dom = opened("report.html", html(record))
    assert dom.count("<figure>") == 5
    assert dom.count('<path class="line ') == 6 * len(SERVERS)
    assert paths == []
    opened("control.html", f"<!doctype html><title>control</title>{asking}")
    assert "/image" in paths, "this browser would have asked"
