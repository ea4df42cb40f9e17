"""The committed JSON Schemas."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pushbench.cli.schemas import MODELS, outdated, schema_text, write_schemas
from pushbench.foundation.project import Project

pytestmark = pytest.mark.slow


def test_are_what_the_models_say() -> None:
    assert outdated(Project.current().schemas) == []


def test_are_written_so_that_they_are_current(tmp_path: Path) -> None:
    assert len(outdated(tmp_path)) == len(MODELS)
    write_schemas(tmp_path)
    assert outdated(tmp_path) == []
    (tmp_path / "server.json").write_text("{}")
    assert outdated(tmp_path) == [tmp_path / "server.json"]


def test_name_themselves_and_forbid_unknown_keys() -> None:
    for name in MODELS:
        schema = json.loads(schema_text(name))
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
        assert schema["$id"] == f"{name}.json"
        assert schema["additionalProperties"] is False


def test_of_thresholds_asks_for_one_bound() -> None:
    definitions = json.loads(schema_text("thresholds"))["$defs"]
    assert definitions["LimitEntry"]["oneOf"] == [{"required": ["max"]}, {"required": ["min"]}]
    assert definitions["ServerLimitEntry"]["required"] == ["reason"]
