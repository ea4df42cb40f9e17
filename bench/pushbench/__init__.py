"""Pushbench: continuous benchmarks of servers that push.

Each folder is a room. docs/architecture.md says what each holds, which may import which, and where to go for what.
"""

__version__ = "0.1.0"
