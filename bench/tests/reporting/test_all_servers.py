"""The table of all servers is generated only from compact records of one environment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from pushbench.foundation.errors import UserError
from pushbench.foundation.project import Project
from pushbench.judging.verdict import judge
from pushbench.records.capacity import CapacityRecord, ServerCapacity
from pushbench.records.compact import Kept, keep_capacity, keep_run, read_kept
from pushbench.records.record import Record
from pushbench.reporting.all_servers import BEGIN, END, render_all_servers, replaced
from pushbench.reporting.compacting import compact_capacity, compact_run
from tests.factories import ENVIRONMENT, invalid, make_record, make_thresholds, make_trial, measured
from tests.records.capacity_entries import THREE, search

ROOT = Project.current()
FAST, SLOW, BROKEN = ({"delivery_seconds.p95": each} for each in (0.002, 0.004, 0.9))


def run(number: int, servers: dict[str, Sequence[dict[str, float]]], **changed: Any) -> Record:
    """A run with one trial for each of these results of each server."""
    trials = [measured(name, each, round_=n) for name, own in servers.items() for n, each in enumerate(own, 1)]
    return make_record(trials, **{"id": f"20261121T1015{number:02d}Z-000000", **changed})


def keep(folder: Path, *records: Record) -> Path:
    kept = folder / "measured"
    for record in records:
        keep_run(kept, compact_run(record, judge(record, make_thresholds(folder))))
    return kept


def rows(folder: Path) -> list[list[str]]:
    """The cells of the tables' rows."""
    lines = [line for line in render_all_servers(read_kept(folder)).splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def named(found: CapacityRecord, name: str) -> ServerCapacity:
    """The search's server with another name."""
    return found.servers[0].model_copy(update={"server": name})


def test_servers_are_ordered_by_the_headline_and_share_places_within_noise(tmp_path: Path) -> None:
    near = {"delivery_seconds.p95": 0.0021}
    kept = keep(tmp_path, run(1, {"fastapi": [SLOW], "node-ws": [near], "spring-stomp": [FAST]}))
    assert [row[:4] for row in rows(kept)] == [
        ["1=", "spring-stomp", "2", "1"],
        ["1=", "node-ws", "2.10", "1"],
        ["3", "fastapi", "4", "1"],
    ]


def test_starts_of_several_runs_count_together_and_show_their_spread(tmp_path: Path) -> None:
    values = [{"delivery_seconds.p95": each} for each in (0.002, 0.0022, 0.0026)]
    kept = keep(tmp_path, *(run(number, {"node-ws": [each]}) for number, each in enumerate(values)))
    [row] = rows(kept)
    assert row[2:4] == ["2.20", "3: 2 to 2.60"]
    assert all(f"20261121T10150{number}Z-000000" in render_all_servers(read_kept(kept)) for number in range(3))


def test_of_two_builds_the_newer_one_counts(tmp_path: Path) -> None:
    old, new = run(1, {"node-ws": [SLOW]}), run(2, {"node-ws": [FAST]})
    rebuilt = [trial.model_copy(update={"build": "0" * 16}) for trial in new.trials]
    kept = keep(tmp_path, old, new.model_copy(update={"trials": rebuilt}))
    [row] = rows(kept)
    assert row[2:4] == ["2", "1"]
    assert old.id not in render_all_servers(read_kept(kept))


def test_a_server_without_a_place_has_no_numbers_and_a_reason(tmp_path: Path) -> None:
    trials = [measured("node-ws", FAST), measured("fastapi", BROKEN), invalid(make_trial("spring-stomp"))]
    kept = keep(tmp_path, make_record(trials))
    found = {row[1]: row for row in rows(kept)}
    assert found["fastapi"][:6] == ["", "fastapi", "", "", "", ""]
    text = render_all_servers(read_kept(kept))
    assert "`fastapi` has no place: fail: delivery p95 900 ms" in text
    assert "`spring-stomp` has no place: invalid: " in text


def test_capacities_stand_beside_and_lower_bounds_say_so(tmp_path: Path) -> None:
    kept = keep(tmp_path, run(1, {"node-ws": [FAST]}))
    keep_capacity(kept, compact_capacity(search(21, *THREE, environment=ENVIRONMENT)))
    [row] = rows(kept)
    assert row[6] == "5,200 [5,000 to 5,400]"
    bound = search(22, *THREE, environment=ENVIRONMENT)
    starts = [start.model_copy(update={"end": "generator"}) for start in bound.servers[0].starts]
    server = bound.servers[0].model_copy(update={"starts": starts})
    keep_capacity(kept, compact_capacity(bound.model_copy(update={"servers": [server]})))
    [row] = rows(kept)
    assert row[6] == "at least 5,200"


def test_the_sources_name_only_searches_whose_capacities_are_shown(tmp_path: Path) -> None:
    kept = keep(tmp_path, run(1, {"node-ws": [FAST]}))
    older, newer = (search(day, *THREE, environment=ENVIRONMENT) for day in (21, 22))
    for each in (older, newer):
        keep_capacity(kept, compact_capacity(each))
    assert newer.id in render_all_servers(read_kept(kept))
    assert older.id not in render_all_servers(read_kept(kept))
    keep_capacity(kept, compact_capacity(newer.model_copy(update={"servers": [named(newer, "go")]})))
    shown = render_all_servers(read_kept(kept))
    assert older.id in shown
    assert newer.id in shown


def test_where_nothing_was_searched_there_is_no_column_of_capacities(tmp_path: Path) -> None:
    kept = keep(tmp_path, run(1, {"node-ws": [FAST]}))
    head, rule, row = [line for line in render_all_servers(read_kept(kept)).splitlines() if line.startswith("|")]
    assert "carried" not in head
    assert head.count("|") == rule.count("|") == row.count("|") == 8
    keep_capacity(kept, compact_capacity(search(21, *THREE, environment=ENVIRONMENT)))
    head, rule, row = [line for line in render_all_servers(read_kept(kept)).splitlines() if line.startswith("|")]
    assert "| clients carried |" in head
    assert head.count("|") == rule.count("|") == row.count("|") == 9


def test_a_stage_is_named_where_its_name_says_more_than_its_clients(tmp_path: Path) -> None:
    kept = keep(tmp_path, run(1, {"node-ws": [FAST]}))
    [file] = kept.glob("*.json")
    assert "1,000 clients\n" in render_all_servers(read_kept(kept))
    file.write_text(file.read_text().replace('"stage":"1000"', '"stage":"closed-1000"'))
    assert "1,000 clients in stage `closed-1000`\n" in render_all_servers(read_kept(kept))


def test_a_server_with_a_capacity_alone_has_a_row(tmp_path: Path) -> None:
    kept = keep(tmp_path, run(1, {"fastapi": [FAST]}))
    keep_capacity(kept, compact_capacity(search(21, *THREE, environment=ENVIRONMENT)))
    assert rows(kept)[-1][1:7] == ["node-ws", "", "", "", "", "5,200 [5,000 to 5,400]"]


def with_earlier(folder: Path, servers: dict[str, Sequence[dict[str, float]]], **changed: Any) -> Kept:
    """The records of a folder beside these results of an earlier day."""
    keep(folder / "measured", run(2, servers, created="2026-11-20T10:15:00Z", **changed))
    (folder / "measured" / "measured").rename(folder / "measured" / "earlier")
    return read_kept(folder / "measured")


def test_the_value_and_the_place_of_an_earlier_day_stand_beside(tmp_path: Path) -> None:
    keep(tmp_path, run(1, {"fastapi": [SLOW], "node-ws": [FAST], "go": [FAST]}))
    text = render_all_servers(with_earlier(tmp_path, {"fastapi": [FAST], "node-ws": [SLOW], "quart": [FAST]}))
    head, rule, *found = [[cell.strip() for cell in line.split("|")] for line in text.splitlines() if line[:1] == "|"]
    day = head.index("2026-11-20 (place)")
    assert {row[2]: (row[1], row[day]) for row in found} == {
        "go": ("1=", ""),
        "node-ws": ("1=", "4 (3)"),
        "fastapi": ("3", "2 (1=)"),
    }
    assert {len(row) for row in found} == {len(head)} == {len(rule)}
    said = " ".join(text.split())
    assert "0 of 1 pair of servers with different places both here and on 2026-11-20 have the same order; " in said
    assert "only here, `fastapi` comes after `node-ws`." in said
    assert "20261121T101501Z-000000, 20261121T101502Z-000000 of commit" in said


def test_servers_that_change_their_order_are_told_by_the_worse_one(tmp_path: Path) -> None:
    keep(tmp_path, run(1, {"a": [FAST], "b": [FAST], "c": [FAST], "d": [SLOW]}))
    text = render_all_servers(with_earlier(tmp_path, {"a": [SLOW], "b": [SLOW], "c": [SLOW], "d": [FAST]}))
    assert "only here, `d` comes after `a`, `b` and `c`." in " ".join(text.split())


def test_two_days_without_a_pair_apart_say_so(tmp_path: Path) -> None:
    keep(tmp_path, run(1, {"fastapi": [FAST], "node-ws": [FAST]}))
    text = render_all_servers(with_earlier(tmp_path, {"fastapi": [FAST], "node-ws": [SLOW]}))
    assert "No two servers have different places both here and on 2026-11-20." in " ".join(text.split())


def test_a_suite_without_a_place_on_the_earlier_day_has_no_column_of_it(tmp_path: Path) -> None:
    alone = render_all_servers(read_kept(keep(tmp_path, run(1, {"node-ws": [FAST]}))))
    assert render_all_servers(with_earlier(tmp_path, {"node-ws": [BROKEN]})) == alone


def test_a_server_that_was_only_searched_has_all_columns(tmp_path: Path) -> None:
    kept = keep(tmp_path, run(1, {"fastapi": [FAST]}))
    keep_capacity(kept, compact_capacity(search(21, *THREE, environment=ENVIRONMENT)))
    text = render_all_servers(with_earlier(tmp_path, {"fastapi": [FAST], "node-ws": [FAST]}))
    lines = [line for line in text.splitlines() if line[:1] == "|"]
    assert {line.count("|") for line in lines} == {10}
    assert "|  | node-ws |  |  | 2 (1=) |  |  | 5,200 [5,000 to 5,400] |  |" in lines


def test_another_load_on_the_earlier_day_is_refused(tmp_path: Path) -> None:
    keep(tmp_path, run(1, {"node-ws": [FAST]}))
    with pytest.raises(UserError, match="another profile, stage or parameters"):
        render_all_servers(with_earlier(tmp_path, {"node-ws": [FAST]}, parameters={"board_size": 20}))


def test_an_earlier_day_of_another_environment_is_refused(tmp_path: Path) -> None:
    keep(tmp_path, run(1, {"node-ws": [FAST]}))
    other = ENVIRONMENT.model_copy(update={"cpus": 64, "key": "ba9876543210"})
    with pytest.raises(UserError, match="20261121T101502Z-000000 is of another environment"):
        with_earlier(tmp_path, {"node-ws": [FAST]}, environment=other)


def test_a_page_more_of_memory_after_another_boot_is_no_other_environment(tmp_path: Path) -> None:
    booted = ENVIRONMENT.model_copy(update={"memory_bytes": ENVIRONMENT.memory_bytes + 4096})
    kept = keep(tmp_path, run(1, {"node-ws": [FAST]}), run(2, {"fastapi": [FAST]}, environment=booted))
    assert len(read_kept(kept).runs) == 2


LESS = {"memory_bytes": ENVIRONMENT.memory_bytes // 2}


@pytest.mark.parametrize("changed", [{"cpus": 64}, {"generators": 2}, {"method": 1}, {"kernel": "5.15"}, LESS])
def test_two_environments_are_refused_in_one_line(tmp_path: Path, changed: dict[str, Any]) -> None:
    other = ENVIRONMENT.model_copy(update={**changed, "key": "ba9876543210"})
    kept = keep(tmp_path, run(1, {"node-ws": [FAST]}), run(2, {"fastapi": [FAST]}, environment=other))
    with pytest.raises(UserError) as refused:
        read_kept(kept)
    assert str(refused.value) == (
        f"{kept}: 20261121T101502Z-000000 is of another environment (ba9876543210) than 20261121T101501Z-000000 "
        "(0123456789ab): no ranking can contain both; keep records of one environment"
    )


def test_a_service_of_two_versions_is_another_environment_and_one_beside_none_is_not(tmp_path: Path) -> None:
    def using(number: int, services: dict[str, str] | None) -> Record:
        environment = ENVIRONMENT.model_copy(update={"services": services, "key": f"{number:012d}"})
        return run(number, {"node-ws": [FAST]}, environment=environment)

    kept = keep(tmp_path, using(1, None), using(2, {"mysql": "MariaDB 10.11"}), using(3, {"redis": "Redis 7"}))
    assert len(read_kept(kept).runs) == 3
    with pytest.raises(UserError, match="of another environment"):
        read_kept(keep(tmp_path, using(4, {"mysql": "MariaDB 11.4"})))


def test_two_loads_of_a_suite_are_refused(tmp_path: Path) -> None:
    kept = keep(tmp_path, run(1, {"node-ws": [FAST]}), run(2, {"node-ws": [FAST]}, parameters={"board_size": 20}))
    with pytest.raises(UserError, match="another profile, stage or parameters than 20261121T101501Z-000000"):
        render_all_servers(read_kept(kept))


@pytest.mark.parametrize(
    ("changed", "said"),
    [({"commit": None}, "its sources are no commit"), ({"judges_times": False}, "only whole runs that judge times")],
)
def test_what_cannot_be_made_again_or_ranked_is_not_kept(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError, match=said):
        keep(tmp_path, run(1, {"node-ws": [FAST]}, **changed))


def test_a_compact_record_has_a_few_kilobytes(tmp_path: Path) -> None:
    kept = keep(tmp_path, run(1, {f"server-{number}": [FAST] * 5 for number in range(20)}))
    [file] = kept.iterdir()
    assert file.name == "whiteboard-20261121T101501Z-000000.json"
    assert file.stat().st_size < 8000


def test_a_file_that_is_none_is_named(tmp_path: Path) -> None:
    kept = keep(tmp_path, run(1, {"node-ws": [FAST]}))
    (kept / "whiteboard-x.json").write_text(json.dumps({"schema": 1}))
    with pytest.raises(UserError, match=r"whiteboard-x\.json: not a compact record: record"):
        read_kept(kept)
    with pytest.raises(UserError, match="there is no compact record"):
        read_kept(tmp_path / "nowhere")


def test_text_of_strangers_is_inert_in_a_table(tmp_path: Path) -> None:
    record = run(1, {"node-ws": [FAST]})
    reported = record.trials[0].reported
    assert reported
    hostile = reported.model_copy(update={"framework": "x | <script>alert(1)</script>\n| y"})
    trials = [trial.model_copy(update={"reported": hostile}) for trial in record.trials]
    text = render_all_servers(read_kept(keep(tmp_path, record.model_copy(update={"trials": trials}))))
    assert "<script>" not in text
    assert len(rows(tmp_path / "measured")) == 1


@pytest.mark.parametrize("document", ["", BEGIN, f"{END}{BEGIN}", f"{BEGIN}{BEGIN}{END}", f"{BEGIN}{END}{END}"])
def test_a_document_without_both_markers_once_is_refused(document: str) -> None:
    with pytest.raises(UserError, match="once each"):
        replaced(document, "table", "findings.md")


def test_what_stands_around_the_markers_stays() -> None:
    first = replaced(f"a\n{BEGIN}\nold\n{END}\nb\n", "new\n", "findings.md")
    assert first == f"a\n{BEGIN}\n\nnew\n\n{END}\nb\n"
    assert replaced(first, "new", "findings.md") == first


def test_the_table_in_the_documentation_is_what_the_kept_records_make() -> None:
    document = ROOT.findings.read_text()
    assert replaced(document, render_all_servers(read_kept(ROOT.measured)), str(ROOT.findings)) == document


def test_lines_of_text_fit_the_documentation(tmp_path: Path) -> None:
    trials = [measured("fastapi", BROKEN | {"loss_ratio": 0.5, "echo_seconds.p95": 1.0}), measured("node-ws", FAST)]
    text = render_all_servers(read_kept(keep(tmp_path, make_record(trials))))
    assert [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")] == []
