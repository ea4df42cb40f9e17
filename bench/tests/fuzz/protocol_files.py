"""A `protocol.yml`, which a pull request may contain."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pushbench.catalog.protocols import read_protocol
from tests.fuzz.target import Target

EXAMPLES = sorted((Path(__file__).parents[3] / "docs" / "examples").glob("*/protocol.yml"))


def read(content: bytes) -> bool:
    with tempfile.TemporaryDirectory(prefix="pushbench-") as folder:
        file = Path(folder) / "protocol.yml"
        file.write_bytes(content)
        read_protocol(file)
    return False  # a protocol that can be read has passed nothing yet


TARGET = Target("a protocol.yml", [file.read_bytes() for file in EXAMPLES], read)
