"""The command line of Pushbench with the fake generator in place of k6: `command_line.py FAKE_K6 ARGUMENTS...`."""

from __future__ import annotations

import sys
from pathlib import Path

from pushbench.cli import main
from pushbench.measuring import preparation

generator = Path(sys.argv.pop(1))
preparation.build_generator = lambda *_: generator  # type: ignore[attr-defined]
main()
