"""Protocols of streams that servers declare."""

from pushbench.conformance.declared_requests import clients, rules

__all__ = ["clients", "rules"]
