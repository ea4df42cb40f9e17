"""Protocols of requests that servers declare."""

from pushbench.conformance.declared_requests import clients, rules

__all__ = ["clients", "rules"]
