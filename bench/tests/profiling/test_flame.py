"""The flame graph is an SVG in which names are text and nothing runs."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from pushbench.profiling.flame import draw
from pushbench.profiling.profile import Profile, frame

SVG = "{http://www.w3.org/2000/svg}"


def profile(*stacks: tuple[tuple[str, ...], float]) -> Profile:
    found = Profile()
    for names, seconds in stacks:
        found.add([frame(name) for name in names], seconds)
    return found


BASE = profile((("main", "send"), 4e-6), (("main", "parse"), 6e-6))
HEAD = profile((("main", "send"), 8e-6), (("main", "parse"), 3e-6))


def boxes(text: str) -> dict[str, ET.Element]:
    """The rectangles by the function that their tooltip begins with."""
    found = {}
    for group in ET.fromstring(text).iter(f"{SVG}g"):
        title, rectangle = group.find(f"{SVG}title"), group.find(f"{SVG}rect")
        assert title is not None and title.text and rectangle is not None
        found[title.text.partition(":")[0]] = rectangle
    return found


def test_widths_are_of_the_head_and_callees_stand_on_their_callers() -> None:
    found = boxes(draw("x", "delivery", BASE, HEAD))
    widths = {name: float(box.get("width", "0")) for name, box in found.items()}
    assert widths["all"] == widths["main"] == 1184
    assert abs(widths["send"] / widths["parse"] - 8 / 3) < 0.01
    assert float(found["send"].get("y", "0")) < float(found["main"].get("y", "0")) < float(found["all"].get("y", "0"))


def test_red_is_more_and_blue_is_less() -> None:
    found = boxes(draw("x", "delivery", BASE, HEAD))
    assert found["send"].get("fill") == "rgb(250,95,95)"
    assert found["parse"].get("fill") == "rgb(95,95,250)"


def test_names_cannot_leave_their_text() -> None:
    evil = '</title><script>alert(1)</script><a onclick="x">&\x00\ud800\uffff'
    text = draw(evil.replace("\x00", ""), "delivery", BASE, profile(((evil,), 1e-6)))
    assert "<script" not in text
    assert {each.tag.removeprefix(SVG) for each in ET.fromstring(text).iter()} == {"svg", "g", "title", "rect", "text"}


def test_boxes_too_small_to_see_are_left_out() -> None:
    many = profile(*(((f"f{number}",), 1e-9) for number in range(2000)), (("main",), 1e-3))
    assert len(boxes(draw("x", "delivery", BASE, many))) == 2
