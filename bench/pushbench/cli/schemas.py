"""The JSON Schemas (draft 2020-12) of the documents that Pushbench reads and writes, made from their models."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic.json_schema import GenerateJsonSchema

from pushbench.calibration.bias import Biases
from pushbench.calibration.error_rates import Calibration
from pushbench.calibration.sightings import FaultResults
from pushbench.catalog.protocol_file import ProtocolFile
from pushbench.catalog.servers import ServerFile
from pushbench.catalog.suites import SuiteFile
from pushbench.ci.doctor.finding import Diagnosis
from pushbench.comparing.bisection import Bisection
from pushbench.foundation.files import write_atomically
from pushbench.foundation.model import Document
from pushbench.judging.judged_capacity import CapacityVerdict
from pushbench.judging.thresholds_file import ThresholdsFile
from pushbench.judging.verdict import Verdict
from pushbench.metrics.carrying import CapacityReport
from pushbench.profiling.explanation import Explanation
from pushbench.records.capacity import CapacityRecord
from pushbench.records.load_report import LoadReport
from pushbench.records.record import Record

MODELS: dict[str, type[Document]] = {
    "server": ServerFile,
    "protocol": ProtocolFile,
    "suite": SuiteFile,
    "thresholds": ThresholdsFile,
    "load-report": LoadReport,
    "record": Record,
    "verdict": Verdict,
    "calibration": Calibration,
    "biases": Biases,
    "fault-results": FaultResults,
    "diagnosis": Diagnosis,
    "explanation": Explanation,
    "bisection": Bisection,
    "capacity": CapacityRecord,
    "capacity-report": CapacityReport,
    "capacity-verdict": CapacityVerdict,
}


class _Generator(GenerateJsonSchema):
    """Leaves out the titles that only repeat the names of the fields."""

    def field_title_should_be_set(self, schema: object) -> bool:
        return False


def schema_text(name: str) -> str:
    """The content of `docs/schemas/<name>.json`."""
    schema = MODELS[name].model_json_schema(schema_generator=_Generator)
    head = {"$schema": _Generator.schema_dialect, "$id": f"{name}.json"}
    return json.dumps(head | schema, indent=2) + "\n"


def write_schemas(folder: Path) -> None:
    for name in MODELS:
        write_atomically(folder / f"{name}.json", schema_text(name).encode())


def outdated(folder: Path) -> list[Path]:
    """Return the files that are missing or differ from the models."""
    files = {folder / f"{name}.json": schema_text(name) for name in MODELS}
    return [file for file, text in files.items() if not file.exists() or file.read_text() != text]
