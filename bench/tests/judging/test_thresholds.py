"""thresholds.yml: its meaning, and that mistakes are reported with their line."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.thresholds import Thresholds
from pushbench.judging.thresholds_reader import read_own_thresholds
from pushbench.metrics.definitions import Better
from tests.factories import METRICS, known_suite, make_thresholds

TODAY = date(2026, 11, 21)


def bounds(folder: Path, text: str, *, server: str = "node-ws", stage: str = "100") -> dict[str, tuple[str, float]]:
    limits = make_thresholds(folder, text).limits("whiteboard", server, stage, TODAY)
    return {limit.metric: (limit.bound.side, limit.bound.value) for limit in limits}


def of_suite(limits: str) -> str:
    return f"version: 1\nsuites:\n  whiteboard:\n    limits:\n      {limits}\n"


def of_server(limits: str, server: str = "fastapi", suite: str = "whiteboard") -> str:
    return (
        "version: 1\nsuites:\n  whiteboard:\n    limits: {loss_ratio: {max: 1%}}\n"
        f"servers:\n  {server}:\n    {suite}:\n      limits:\n        {limits}\n"
    )


@pytest.mark.parametrize(
    ("limit", "bound"),
    [
        ("loss_ratio: {max: 1%}", ("max", 0.01)),
        ("loss_ratio: {max: 0.01}", ("max", 0.01)),
        ("loss_ratio: {max: 0}", ("max", 0.0)),
        ("delivery_seconds.p95: {max: 500ms}", ("max", 0.5)),
        ("memory_bytes.peak: {max: 200MB}", ("max", 200e6)),
        ("throughput_per_second: {min: 9000/s}", ("min", 9000.0)),
        ("cpu_cores: {max: 1.5}", ("max", 1.5)),
    ],
)
def test_a_limit_is_read_in_the_unit_of_its_metric(tmp_path: Path, limit: str, bound: tuple[str, float]) -> None:
    assert list(bounds(tmp_path, of_suite(limit)).values()) == [bound]


def test_a_server_s_own_limit_replaces_the_suite_s_in_its_stages_only(tmp_path: Path) -> None:
    text = of_server("loss_ratio: {max: 20%, stages: [700, classroom-1000], reason: one event loop}")
    assert bounds(tmp_path, text, server="fastapi", stage="700") == {"loss_ratio": ("max", 0.2)}
    assert bounds(tmp_path, text, server="fastapi", stage="classroom-1000") == {"loss_ratio": ("max", 0.2)}
    assert bounds(tmp_path, text, server="fastapi", stage="1000") == {"loss_ratio": ("max", 0.01)}
    assert bounds(tmp_path, text, server="node-ws", stage="700") == {"loss_ratio": ("max", 0.01)}


MARGIN = "cpu_seconds_per_delivery: {margin: 3%, bias: 1%, noise: 2%, reason: measured}"


def of_margin(line: str) -> str:
    return (
        "version: 1\nsuites:\n  whiteboard:\n    regressions:\n      cpu_seconds_per_delivery: {margin: 5%}\n"
        "      loss_ratio: {margin: 10%}\nservers:\n  fastapi:\n    whiteboard:\n      regressions:\n"
        f"        {line}\n"
    )


def test_a_server_s_own_margin_replaces_the_suite_s(tmp_path: Path) -> None:
    found = make_thresholds(tmp_path, of_margin(MARGIN))
    cost, loss = found.margins("whiteboard", "fastapi")
    assert (cost.margin, cost.bias, cost.noise, cost.reason) == (0.03, 0.01, 0.02, "measured")
    assert (loss.metric, loss.margin) == ("loss_ratio", 0.1)
    assert [(each.margin, each.bias) for each in found.margins("whiteboard", "node-ws")] == [(0.05, 0.0), (0.1, 0.0)]
    assert found.suite("whiteboard").regressions[0].margin == 0.05


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (MARGIN.replace("bias: 1%", "bias: 3%"), "expected less than the margin of 3%"),
        (MARGIN.replace(", reason: measured", ""), "reason"),
        ("capacity: {margin: 20%, reason: x}", "a capacity has a margin for the whole suite"),
        ("cpu: {margin: 20%, reason: x}", "unknown metric"),
    ],
)
def test_a_margin_of_a_server_that_cannot_be_is_told_with_its_line(tmp_path: Path, line: str, expected: str) -> None:
    with pytest.raises(UserError) as raised:
        make_thresholds(tmp_path, of_margin(line))
    assert expected in str(raised.value)
    assert ":11" in str(raised.value)


def test_a_server_s_own_limit_holds_on_its_last_day_and_not_after_it(tmp_path: Path) -> None:
    until = of_server("loss_ratio: {max: 20%, reason: known, until: 2026-11-21}")
    assert bounds(tmp_path, until, server="fastapi") == {"loss_ratio": ("max", 0.2)}
    expired = of_server("loss_ratio: {max: 20%, reason: known, until: 2026-11-20}")
    assert bounds(tmp_path, expired, server="fastapi") == {"loss_ratio": ("max", 0.01)}


OWN = """\
version: 1
servers:
  fastapi:
    whiteboard:
      limits: {loss_ratio: {max: 20%, reason: it is known}}
      regressions: {cpu_seconds_per_delivery: {margin: 8%, reason: it is noisy}}
      accepted:
        cpu_seconds_per_delivery: {change: 12%, reason: it checks more, until: 2027-01-31}
        capacity: {level: 4000, reason: it checks more, until: 2027-01-31}
"""
COMMON = """\
version: 1
suites:
  whiteboard: {limits: {loss_ratio: {max: 1%}}, regressions: {cpu_seconds_per_delivery: {margin: 5%}}}
servers:
  fastapi:
    whiteboard:
      limits: {loss_ratio: {max: 5%, reason: another}}
      regressions: {cpu_seconds_per_delivery: {margin: 6%, reason: another}}
      accepted:
        cpu_seconds_per_delivery: {change: 1%, reason: another, until: 2027-01-31}
        capacity: {level: 4900, reason: another, until: 2027-01-31}
"""


@pytest.mark.parametrize("common", [COMMON, COMMON.partition("servers:")[0]])
def test_every_line_beside_a_server_counts_for_it_alone_and_before_those_of_the_checkout(
    tmp_path: Path, common: str
) -> None:
    both = make_thresholds(tmp_path, common).with_own(make_thresholds(tmp_path, OWN))

    def counts(server: str) -> tuple[float, float, float | None]:
        [limit] = both.limits("whiteboard", server, "100", TODAY)
        [margin] = both.margins("whiteboard", server)
        accepted = both.accepted("whiteboard", server, "100", "cpu_seconds_per_delivery", TODAY)
        return limit.bound.value, margin.margin, accepted.change if accepted else None

    assert counts("fastapi") == (0.2, 0.08, 0.12)
    assert counts("node-ws") == (0.01, 0.05, None)
    lines = {line.server: line.level for line in both.suite("whiteboard").accepted_capacities}
    assert lines == {"fastapi": 4000}, "as the judge of capacities reads them"


def own(file: Path, text: str) -> Thresholds:
    file.write_text(text)
    return read_own_thresholds(file, suites={"whiteboard": known_suite("100")}, servers={"fastapi": "whiteboard"})


def test_a_file_beside_a_server_says_nothing_about_others(tmp_path: Path) -> None:
    file = tmp_path / "thresholds.yml"
    assert own(file, OWN).suite("whiteboard").accepted
    with pytest.raises(UserError, match=r"thresholds.yml:10: .*write them below `servers`, `fastapi` and the suite"):
        own(file, f"{OWN}suites:\n  whiteboard: {{regressions: {{cpu_seconds_per_delivery: {{margin: 90%}}}}}}\n")
    with pytest.raises(UserError, match=r"thresholds.yml:3: unknown server 'node-ws'.* in a copied folder, delete it"):
        own(file, OWN.replace("fastapi", "node-ws"))


def test_regressions_are_read_with_the_metric_s_own_direction(tmp_path: Path) -> None:
    text = """\
version: 1
suites:
  whiteboard:
    regressions:
      delivery_seconds.p95: {margin: 15%, floor: 1ms}
      throughput_per_second: {margin: 3%}
      threads: {margin: 10%, better: higher}
"""
    read = make_thresholds(tmp_path, text).suite("whiteboard").regressions
    assert [(each.metric, each.margin, each.floor, each.better) for each in read] == [
        ("delivery_seconds.p95", 0.15, 0.001, Better.LOWER),
        ("throughput_per_second", 0.03, 0.0, Better.HIGHER),
        ("threads", 0.1, 0.0, Better.HIGHER),
    ]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (of_suite("lost_ratio: {max: 1%}"), 5, "unknown metric; did you mean loss_ratio?"),
        (of_suite("colour: {max: 1%}"), 5, "unknown metric; `pushbench suites whiteboard` lists them"),
        (of_suite("loss_ratio: {max: 500ms}"), 5, "expected a ratio such as 1% or 0.01, found '500ms'"),
        (of_suite("delivery_seconds.p95: {max: 1%}"), 5, "expected a duration such as 500ms, 2s or 1m30s, found '1%'"),
        (of_suite("delivery_seconds.p95: {max: 5}"), 5, "expected a duration"),
        (of_suite("loss_ratio: {max: -1%}"), 5, "cannot be below 0"),
        (of_suite("loss_ratio: {max: true}"), 5, "max: expected a quantity such as 1%"),
        (of_suite("loss_ratio: {}"), 5, "expected either max or min"),
        (of_suite("loss_ratio: {max: 1%, min: 0}"), 5, "expected either max or min"),
        (of_suite("loss_ratio: {most: 1%}"), 5, "unknown key"),
        (of_suite("loss_ratio:\n        max: 1%\n        stages: [700]"), 7, "unknown key"),
        (of_server("loss_ratio: {max: 20%}"), 9, "missing"),
        (of_server("loss_ratio: {max: 20%, reason: ' '}"), 9, "expected a reason in words"),
        (of_server("loss_ratio: {max: 20%, reason: known, stages: []}"), 9, "at least 1 item"),
        (
            of_server("loss_ratio: {max: 20%, reason: known, stages: [300,\n          clasroom-1000]}"),
            10,
            "unknown stage of whiteboard 'clasroom-1000'; did you mean classroom-1000? known: 100, 300, 700, 1000, cl",
        ),
        (of_server("loss_ratio: {max: 20%, reason: known, stages: [250]}"), 9, "unknown stage of whiteboard '250'"),
        (of_server("loss_ratio: {max: 20%, reason: known, stages: [1.5]}"), 9, "stages.0: expected a number of cl"),
        (of_server("loss_ratio: {max: 20%, reason: known, until: soon}"), 9, "expected a date such as 2027-06-30"),
        (of_server("loss_ratio: {max: 20%, reason: known, until: 20270630}"), 9, "expected a date such as 2027-06-30"),
        (of_server("loss_ratio: {max: 20%, reason: known}", server="fast-api"), 6, "did you mean fastapi?"),
        (of_server("loss_ratio: {max: 20%, reason: known}", suite="whitebord"), 7, "did you mean whiteboard?"),
        (of_server("loss_ratio: {max: 20%, reason: known}", suite="posts"), 7, "fastapi has the suite 'whiteboard'"),
        ("version: 1\nsuites:\n  wb: {}\n", 3, "unknown suite 'wb'"),
        ("version: 2\n", 1, "version: expected 1, found the number 2"),
        ("version: 1\nsuites: [\n", 3, "not valid YAML"),
        (
            "version: 1\nsuites:\n  whiteboard:\n    regressions:\n      loss_ratio: {margin: 5ms}\n",
            5,
            "margin: expected a ratio",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    with pytest.raises(UserError) as error:
        make_thresholds(tmp_path, text)
    assert str(error.value).startswith(f"{tmp_path / 'thresholds.yml'}:{line}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_the_documentation_names_every_metric() -> None:
    text = (Project.current().root / "docs" / "thresholds.md").read_text()
    named = [name for name in METRICS if f"`{name}`" in text or f"`{name.partition('.')[0]}.*`" in text]
    assert named == list(METRICS)
