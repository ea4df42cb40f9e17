"""The suite `location`: its rules, in the order of the text and of checking, and its clients."""

from __future__ import annotations

from types import ModuleType

from pushbench.conformance import every_server
from pushbench.conformance.location import lifecycle, load, over_http, polls, pushing, sharing
from pushbench.conformance.location.clients import Clients
from pushbench.conformance.location.over_http import HTTPMember
from pushbench.conformance.location.polls import Poller
from pushbench.conformance.rule import Rule, rules_in
from pushbench.conformance.target import Target


def rules(protocol: ModuleType) -> tuple[Rule, ...]:
    """The rules of all transports, of similar transports, and of this one alone."""
    member = protocol.ProtocolMember
    transport = polls if issubclass(member, Poller) else pushing
    alike = [over_http, transport] if issubclass(member, HTTPMember) else [transport]
    return rules_in(every_server, sharing, *alike, protocol, load, lifecycle)


def clients(server: str, target: Target, protocol: ModuleType) -> Clients:
    return Clients(server, target, protocol.ProtocolMember)
