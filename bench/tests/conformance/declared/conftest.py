"""The whiteboard server of these tests as one that declares its protocol."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pushbench.building.builds import build_generator
from pushbench.catalog.protocols import read_protocol
from pushbench.conformance import Declared, Subject
from pushbench.conformance.whiteboard.declared import traffic
from pushbench.foundation.project import Project
from pushbench.generator.talking import Talked, converse

CHECKOUT = Project.at(Path(__file__).parents[4])
EXAMPLE = (CHECKOUT.root / "docs" / "examples" / "whiteboard" / "protocol.yml").read_text()
PROTOCOL = EXAMPLE.replace('"stroke": [', '"note": "{text:200}", "stroke": [').replace("/stroke]", "/stroke, /note]")
Declaring = Callable[..., Subject]


@pytest.fixture(autouse=True)
def little_traffic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traffic, "SENDERS", 2)
    monkeypatch.setattr(traffic, "PATIENCE", 0.5)


@pytest.fixture
def declaring(whiteboard: Callable[..., Subject], tmp_path: Path) -> Declaring:
    """`declaring(PROTOCOL, "loses")`: the server as a subject that declares its protocol so, with faults."""

    def subject(text: str, *faults: str) -> Subject:
        file = tmp_path / "protocol.yml"
        file.write_text(text)
        protocol = read_protocol(file)

        def play(url: str) -> Talked:
            binary = build_generator(CHECKOUT, print)
            return converse(binary, CHECKOUT.generator, url, protocol.declaration, protocol.environment())

        return replace(whiteboard("protocol.yml", *faults), declared=Declared(protocol, play))

    return subject
