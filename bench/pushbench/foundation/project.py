"""The layout of a checkout: the only module that defines where files are."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Project:
    """A checkout of Pushbench, or a folder laid out like one. `out` may be elsewhere."""

    root: Path
    out: Path

    @classmethod
    def at(cls, root: Path, out: Path | None = None) -> Project:
        root = root.resolve()
        return cls(root=root, out=(out or root / "out").resolve())

    @classmethod
    def current(cls, out: Path | None = None) -> Project:
        """The checkout that contains this package; PUSHBENCH_ROOT names another one, such as your own catalog."""
        named = os.environ.get("PUSHBENCH_ROOT")
        return cls.at(Path(named) if named else Path(__file__).parents[3], out)

    @property
    def servers(self) -> Path:
        return self.root / "servers"

    @property
    def generator(self) -> Path:
        return self.root / "k6"

    @property
    def scenarios(self) -> Path:
        return self.generator / "scenarios"

    @property
    def pages(self) -> Path:
        return self.root / "report-site"

    @property
    def thresholds(self) -> Path:
        return self.root / "thresholds.yml"

    @property
    def schemas(self) -> Path:
        return self.root / "docs" / "schemas"

    @property
    def measured(self) -> Path:
        """The folder of the compact records that the table of all servers is made from."""
        return self.root / "docs" / "measured"

    @property
    def findings(self) -> Path:
        return self.root / "docs" / "findings.md"

    @property
    def history(self) -> Path:
        return self.root / "history"

    @property
    def cache(self) -> Path:
        return self.root / ".cache" / "pushbench"

    @property
    def history_cache(self) -> Path:
        return self.cache / "history"

    @property
    def logs(self) -> Path:
        return self.cache / "logs"

    @property
    def service_data(self) -> Path:
        """The data of services during a trial."""
        return self.cache / "services"

    @property
    def records(self) -> Path:
        return self.out / "records"

    @property
    def capacities(self) -> Path:
        """Records of searches for capacities."""
        return self.out / "capacity"

    @property
    def explanations(self) -> Path:
        """Explanations of comparisons with more CPU: a folder for each of their records."""
        return self.out / "explanations"

    @property
    def bisections(self) -> Path:
        """Searches for the commit of a regression."""
        return self.out / "bisections"

    @property
    def site(self) -> Path:
        """The site of the runs in `out`."""
        return self.out / "site"

    def relative(self, path: Path) -> str:
        """`path` relative to the checkout, as a person would type it."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)
