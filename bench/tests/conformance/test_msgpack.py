"""Values are the same in JSON and in MessagePack, as in the generator; bytes that are no value are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushbench.conformance.msgpack import packed, unpacked

FILE = Path(__file__).parents[3] / "k6" / "internal" / "msgpack" / "testdata" / "values.json"
VALUES = json.loads(FILE.read_text())


@pytest.mark.parametrize("case", VALUES, ids=lambda case: case["packed"])
def test_a_value_is_the_same_in_both_forms(case: dict[str, str]) -> None:
    data = bytes.fromhex(case["packed"])
    if case["json"]:
        assert packed(case["json"]) == data
    assert json.loads(unpacked(data)) == json.loads(case.get("back", case["json"]))


LONGEST = (pytest.param(length, marks=pytest.mark.slow) for length in (65_535, 65_536))


@pytest.mark.parametrize("length", [15, 16, 31, 32, 255, 256, *LONGEST])
def test_long_values_come_back(length: int) -> None:
    for value in ("é" * length, ["a"] * length, {f"{each}": each for each in range(length)}):
        assert json.loads(unpacked(packed(json.dumps(value)))) == value


@pytest.mark.parametrize(
    "data", ["", "c1", "a1", "a1ff", "91", "8101", "81c001", "0101", "cb00", "c403", "dfffffffff", "91" * 200 + "01"]
)
def test_what_is_no_value_is_refused(data: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        unpacked(bytes.fromhex(data))
