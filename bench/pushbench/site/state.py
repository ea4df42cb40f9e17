"""An earlier `pushbench site`'s knowledge of its inputs, kept beside the data, so that only new records are read.

The state is derived, too: without it, or with other thresholds, everything is rebuilt with the same result.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pushbench.calibration.error_rates import Case
from pushbench.foundation.files import write_atomically
from pushbench.records.record import Record
from pushbench.records.tools import Tools
from pushbench.records.vocabulary import Vocabulary
from pushbench.site.layout import SCHEMA, Data

NAME = "data/state.json"


class State:
    def __init__(self, judged_by: str, before: dict[str, Any] | None = None) -> None:
        """`judged_by` is the digest of the thresholds."""
        before = before or {}
        self._before_runs: dict[str, str] = before.get("runs", {})
        self._before_rows: dict[str, Data] = before.get("rows", {})
        self._before_combinations: dict[str, Any] = before.get("combinations", {})
        self.judged_by = judged_by
        self.environments: dict[str, Data] = before.get("environments", {})
        self._words: dict[str, Data] = before.get("words", {})
        """by suite: the words of its newest record, and the record's id"""
        self._tools: dict[str, Data] = before.get("tools", {})
        self._measured_with: dict[str, str] = before.get("measured_with", {})
        """by the run's id: its key in `_tools`, which thousands of runs share"""
        self._self_comparisons: dict[str, list[Data]] = before.get("self_comparisons", {})
        """evidence of runs about the judge, by their ids: cases of `calibration.own_runs`"""
        self._before_capacities: dict[str, Data] = before.get("capacities", {})
        self.capacities: dict[str, Data] = {}
        """contents of capacity records, by their ids"""
        self._capacity_versions: dict[str, str] = {}
        self.runs: dict[str, str] = {}
        """the version of the source file, by id"""
        self.rows: dict[str, Data] = {}
        """of the few listed runs"""
        self.combinations: dict[str, Any] = {}

    @classmethod
    def read(cls, root: Path, judged_by: str) -> State:
        try:
            found = json.loads((root / NAME).read_bytes())
            usable = (found["schema"], found["judged_by"]) == (SCHEMA, judged_by)
            usable = usable and {"measured_with", "self_comparisons"} <= set(found)
        except (OSError, ValueError, KeyError, TypeError):
            usable, found = False, {}
        return cls(judged_by, found if usable else None)

    def knows(self, run: str, version: str) -> bool:
        """Whether the run's files were made from this version before."""
        return self._before_runs.get(run) == version

    def known_row(self, run: str) -> Data | None:
        """The row of a run; None if it was not listed before, or has other files now."""
        return self._before_rows.get(run) if self._before_runs.get(run) == self.runs.get(run) else None

    def known_combination(self, name: str, version: str) -> Data | None:
        found: Data | None = self._before_combinations.get(name)
        return found if found and found["version"] == version else None

    def known_versions(self, name: str) -> dict[str, str]:
        """The versions of a combination's windows, by their names."""
        found: dict[str, str] = self._before_combinations.get(name, {}).get("windows", {})
        return found

    def keep_words(self, record: Record) -> None:
        """Keep the record's words, for a suite that the checkout lacks."""
        if record.id >= self._words.get(record.suite, {"record": ""})["record"]:
            self._words[record.suite] = {"record": record.id, "words": record.words.model_dump(mode="json")}

    def words_of(self, suite: str) -> Vocabulary | None:
        found = self._words.get(suite)
        return Vocabulary.model_validate(found["words"]) if found else None

    def keep_tools(self, run: str, tools: Tools | None) -> None:
        self._measured_with.pop(run, None)
        if tools:
            key = hashlib.sha256(tools.model_dump_json().encode()).hexdigest()[:10]
            self._tools[key] = tools.model_dump()
            self._measured_with[run] = key

    def tools_of(self, run: str) -> Data | None:
        """The tools of a run's measurement, if they are known."""
        key = self._measured_with.get(run)
        return self._tools[key] if key else None

    def keep_self_comparison(self, run: str, cases: Sequence[Case]) -> None:
        self._self_comparisons.pop(run, None)
        if cases:
            self._self_comparisons[run] = [case.model_dump(mode="json") for case in cases]

    def own_cases(self) -> dict[str, list[Case]]:
        """The evidence of existing runs about the judge, by their ids."""
        known = {run: cases for run, cases in self._self_comparisons.items() if run in self.runs}
        return {run: [Case.model_validate(case) for case in cases] for run, cases in known.items()}

    def capacity(self, record: str, version: str) -> bool:
        """Whether its files were made from this version before; if so, it is kept."""
        before = self._before_capacities.get(record)
        if before is None or before["version"] != version:
            return False
        self.keep_capacity(record, version, before["about"])
        return True

    def keep_capacity(self, record: str, version: str, about: Data) -> None:
        self.capacities[record], self._capacity_versions[record] = about, version

    def write(self, root: Path) -> None:
        measured_with = {run: key for run, key in sorted(self._measured_with.items()) if run in self.runs}
        content = {
            "schema": SCHEMA,
            "judged_by": self.judged_by,
            "environments": dict(sorted(self.environments.items())),
            "words": dict(sorted(self._words.items())),
            "tools": {key: self._tools[key] for key in sorted(set(measured_with.values()))},
            "measured_with": measured_with,
            "self_comparisons": {
                run: cases for run, cases in sorted(self._self_comparisons.items()) if run in self.runs
            },
            "capacities": {
                record: {"version": self._capacity_versions[record], "about": about}
                for record, about in sorted(self.capacities.items())
            },
            "runs": dict(sorted(self.runs.items())),
            "rows": dict(sorted(self.rows.items())),
            "combinations": dict(sorted(self.combinations.items())),
        }
        write_atomically(root / NAME, json.dumps(content, separators=(",", ":")).encode() + b"\n")
