"""The project's workflow files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pushbench.foundation.yamlfile import read_yaml

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def jobs(file: Path) -> dict[str, Any]:
    return dict(read_yaml(file).data["jobs"])
