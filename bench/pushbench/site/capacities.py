"""Capacities: each capacity record is read once and kept beside the site; pages get the newest for each server.

A record's results are in a data file of their own. A series combines such files: the searches in one environment and
suite, with the same parameters and limits. Only these are comparable.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from statistics import median

from pushbench.foundation.errors import UserError
from pushbench.foundation.text import MESSAGE, one_line
from pushbench.metrics.carrying import CapacityResult, results_of
from pushbench.metrics.definitions import cost
from pushbench.records.capacity import CapacityRecord, ServerCapacity
from pushbench.records.capacity_store import LARGEST_BYTES, parse_capacity
from pushbench.records.store import packed, record_files
from pushbench.records.vocabulary import Vocabulary
from pushbench.site.inputs import Note
from pushbench.site.layout import Data, Folder, data_name, part
from pushbench.site.state import State

KEPT = "capacity"
"""the site's folder of records"""
RESULTS = "capacities"
"""below `data`: the results of each record"""
MOST_POINTS = 100
"""of a server's curve: those closest to its capacity"""


def file_capacities(folder: Folder, given: Path | None, state: State, note: Note) -> list[Data]:
    """Write new records; return the series, the one with the newest search first. Leaves out unreadable records."""
    files = record_files(folder.root / KEPT) | (record_files(given) if given else {})
    for name, path in sorted(files.items()):
        version = f"{path.stat().st_size}"
        if state.capacity(name, version) and folder.has(f"data/{RESULTS}/{part(name)}.js"):
            continue
        try:
            record = _read(path, name)
        except UserError as error:
            note(f"left out: {error}")
            continue
        if path.parent != folder.root / KEPT:
            folder.write(f"{KEPT}/{part(record.id)}.json.gz", packed(record.model_dump_json(by_alias=True).encode()))
        folder.data(f"{RESULTS}/{part(record.id)}", _results(record))
        state.keep_capacity(record.id, version, _about(record))
    return [_write_series(folder, name, of) for name, of in _series(state.capacities).items()]


def _read(path: Path, name: str) -> CapacityRecord:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(LARGEST_BYTES + 1)
    except (OSError, zlib.error, EOFError) as error:
        raise UserError(f"cannot be read: {error}", where=str(path)) from None
    record = parse_capacity(content, str(path))
    if record.id != name:
        raise UserError(f"its name is not that of its record, {record.id}", where=str(path))
    return record


def _about(record: CapacityRecord) -> Data:
    """A record's entry in a list of searches."""
    return {
        "created": record.created,
        "environment": record.environment.key,
        "suite": record.suite,
        "searched": record.search.searched,
        "parameters": {name: value for name, value in record.parameters.items() if name != record.search.searched},
        "limits": [each.model_dump() for each in record.limits],
        "servers": [each.server for each in record.servers],
    }


def _series(records: Mapping[str, Data]) -> dict[str, dict[str, Data]]:
    """Records by the name of their series, the newest first."""
    found: dict[str, dict[str, Data]] = defaultdict(dict)
    for name, about in sorted(records.items(), reverse=True):
        key = json.dumps([about["searched"], about["parameters"], about["limits"]], sort_keys=True)
        digest = hashlib.sha256(key.encode()).hexdigest()[:6]
        found[data_name(KEPT, about["environment"], about["suite"], digest)][name] = about
    return found


def _write_series(folder: Folder, name: str, records: Mapping[str, Data]) -> Data:
    """Write the newest search of each server."""
    servers: Data = {}
    for record, about in records.items():
        wanted = [server for server in about["servers"] if server not in servers]
        found = folder.content(f"{RESULTS}/{part(record)}") if wanted else None
        results = found["servers"] if found else {}
        servers |= {
            server: {"record": record, "created": about["created"], "commit": (found or {}).get("commit")}
            | results[server]
            for server in wanted
            if server in results
        }
    content = {"servers": dict(sorted(servers.items()))}
    folder.data(name, content)
    newest = next(iter(records.values()))
    return {
        "id": name,
        **{key: newest[key] for key in ("created", "environment", "suite", "searched", "parameters")},
        "servers": sorted(servers),
        "version": hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:10],
    }


def _results(record: CapacityRecord) -> Data:
    commit = record.commit
    return {
        "commit": commit.sha if commit else None,
        "servers": {
            result.server: _result(result) | {"points": _points(server, record.words, result.carried)}
            for server, result in zip(record.servers, results_of(record), strict=True)
        },
    }


def _result(found: CapacityResult) -> Data:
    binding = found.binding
    return {
        "carried": found.carried,
        "low": found.low,
        "high": found.high,
        "at_least": found.at_least,
        "reason": one_line(found.reason, MESSAGE),
        "binding": binding and {"resource": binding.resource, "sentence": one_line(binding.sentence, MESSAGE)},
        "per_1000": {name: value for name, value in found.per_1000.items() if value is not None},
        "starts": found.starts,
        "confirmed": found.confirmed,
        "failure": found.failure and one_line(found.failure, MESSAGE),
    }


def _points(server: ServerCapacity, words: Vocabulary, carried: int | None) -> list[Data]:
    """The loads that were probed, the lowest first: medians over a load's probes. Probes that the generator or a
    disturbed machine ended are left out.
    """
    probes = [probe for start in server.starts for probe in start.probes if probe.answer in ("carried", "broken")]
    loads = sorted({probe.load for probe in probes}, key=lambda load: abs(load - (carried or 0)))[:MOST_POINTS]
    wanted = (words.headline, "loss_ratio", cost(words), "cpu_cores")
    return [
        {
            "load": load,
            "carried": all(probe.answer == "carried" for probe in own),
            "metrics": {
                name: middle
                for name in wanted
                if (middle := _median(probe.metrics.get(name) for probe in own)) is not None
            },
        }
        for load in sorted(loads)
        if (own := [probe for probe in probes if probe.load == load])
    ]


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None and isfinite(value)]
    return float(f"{median(known):.4g}") if known else None
