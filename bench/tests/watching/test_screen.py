"""The screen of `run --watch` fits every terminal and shows everything in words, too.

The whole screens are in tests/golden/watch-*.txt. After an intended change, `PUSHBENCH_GOLDEN=write pytest
tests/watching/test_screen.py` rewrites them.
"""

from __future__ import annotations

import itertools
import math
import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from pushbench.generator.events import Second, Started
from pushbench.judging.thresholds import Bound
from pushbench.machine.resources import Usage
from pushbench.machine.sampling import Sample
from pushbench.watching.minute import SECONDS, Minute
from pushbench.watching.panels import panels
from pushbench.watching.screen import View, layout, share
from tests.factories import ENVIRONMENT, make_record

GOLDEN = Path(__file__).parents[1] / "golden"
RECORD = make_record([])
LOAD = Started(at=0.0, windows=[(11.0, 17.0), (20.0, 26.0), (29.0, 35.0), (38.0, 44.0)], end=44.0)
LIMITS = {"delivery_seconds.p95": Bound(side="max", value=0.5)}


def minute(*, seconds: int = 40, p95: float = 0.002, generator: float = 0.3, services: bool = True) -> Minute:
    """A load that grows in steps, like the profile `quick`."""
    found = Minute(LOAD)
    used = {"server": 0.0, "services": 0.0, "generator": 0.0}
    for index in range(seconds + 1):
        clients = 100 * (1 + index // 9)
        programs: dict[str, Usage | None] = {
            name: Usage(float(index), cpu, cpu, 0.0, 1_000_000, 1, 1) for name, cpu in used.items()
        }
        if not services:
            programs["services"] = None
        found.sample(Sample(float(index), programs["server"], programs["services"], programs["generator"], None))
        if index:
            wave = 1 + 0.3 * math.sin(index)
            short = 6 if index == 30 else 10
            found.second(Second(index + 0.003, clients, clients, clients * short, clients * 10, p95 * wave))
        used = {"server": used["server"] + clients / 400, "services": used["services"] + 0.1, "generator": 0.0} | {
            "generator": used["generator"] + generator * 2
        }
    return found


def view(drawn: Minute | None, limits: Mapping[str, Bound] = MappingProxyType(LIMITS), **changed: Any) -> View:
    values: dict[str, Any] = {
        "title": "[2/4] node-ws, whiteboard, profile quick",
        "left": "2 min 05 s left",
        "doing": "stage 4/4 measuring, 500 of 500 clients",
        "panels": panels(drawn, RECORD, limits),
        "measured": drawn.measured() if drawn else [False] * SECONDS,
        "notes": ["node-ws: verified", "[1/4] go: done in 1 min 01 s; 1,000 clients, nothing lost"],
    }
    return View(**(values | changed))


def lines(shown: View, width: int = 80, height: int = 24) -> list[str]:
    return [line.plain for line in layout(shown, width, height)]


@pytest.mark.parametrize(("width", "height"), [(60, 20), (80, 24), (160, 40)])
def test_looks(width: int, height: int) -> None:
    found = lines(view(minute()), width, height)
    path = GOLDEN / f"watch-{width}.txt"
    text = "".join(f"{line.rstrip()}\n" for line in found)
    if os.environ.get("PUSHBENCH_GOLDEN") == "write":
        path.write_text(text)
    assert text == path.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("drawn", [None, minute(), minute(seconds=0), minute(seconds=90)])
def test_it_fits_every_terminal(drawn: Minute | None) -> None:
    shown = view(drawn, notes=["x" * 400])
    for width, height in itertools.product(
        [20, 40, 59, 60, 68, 69, 80, 135, 136, 160, 300], [1, 5, 9, 12, 16, 24, 50, 100]
    ):
        found = lines(shown, width, height)
        assert len(found) <= height, (width, height)
        assert max(map(len, found)) <= width, (width, height)


@pytest.mark.parametrize("width", [60, 80, 160])
def test_the_time_left_is_at_the_right_edge(width: int) -> None:
    first = lines(view(minute(), title="[2/4] socketio-game/bun-native, typing-game, profile quick"), width)[0]
    assert first.endswith("2 min 05 s left")
    assert len(first) == width


def heading(title: str, shown: View) -> str:
    [found] = [line for line in lines(shown) if line.startswith(title)]
    return found


def test_the_generator_is_shown_against_what_it_may_use() -> None:
    found = heading("Generator CPU", view(minute(generator=0.42)))
    assert re.fullmatch(r"Generator CPU  42 % of 2 cores +limit 80 %", found)
    assert heading("Generator CPU", view(minute(generator=0.9))).endswith("beyond the limit 80 %")


def test_a_limit_that_is_broken_is_told_in_words() -> None:
    assert heading("Delivery p95", view(minute(p95=0.02))).endswith("  limit 500 ms")
    assert heading("Delivery p95", view(minute(p95=0.9))).endswith("  beyond the limit 500 ms")


def test_without_a_limit_there_is_no_line() -> None:
    assert heading("Delivery p95", view(minute(), {})).rstrip().endswith("ms")
    with_limit, without = ("".join(lines(view(minute(), limits))) for limits in (LIMITS, {}))
    assert with_limit.count("─") - without.count("─") >= 60


def test_services_are_shown_where_there_are_any() -> None:
    assert any(line.startswith("Services' CPU  0.10 of 2 cores") for line in lines(view(minute())))
    assert not any(line.startswith("Services") for line in lines(view(minute(services=False))))


def test_the_p95_of_several_generators_is_told_as_what_it_is() -> None:
    three = RECORD.model_copy(update={"environment": ENVIRONMENT.model_copy(update={"generators": 3})})
    assert panels(minute(), three, LIMITS)[1].now.endswith("ms, of the slowest generator")


def test_before_the_load_there_are_dashes_and_no_numbers() -> None:
    found = lines(view(None, doing="starting"))
    assert found[1] == "starting"
    for title in ("Deliveries", "Delivery p95", "Server CPU", "Generator CPU"):
        assert any(line.startswith(f"{title}  -") for line in found), title


def test_more_lines_make_charts_higher_by_their_weights() -> None:
    assert share([3, 4, 2, 2], 11) == [3, 4, 2, 2]
    assert share([3, 4, 2, 2], 4) == [1, 1, 1, 1]
    assert share([3, 4, 2, 2], 3) == [0, 0, 0, 0]
    assert sum(share([3, 4, 2, 2], 22)) == 22
