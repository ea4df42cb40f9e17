"""Pushbench: continuous benchmarks of servers that push. The ladder of modules is drawn in docs/architecture.md."""

__version__ = "0.1.0"
