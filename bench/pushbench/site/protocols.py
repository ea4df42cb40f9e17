"""Protocols between servers and clients, and the servers' promises, for the page about the method. Pure.

The texts are sections of docs/protocols.md, and the statements of rules."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from pushbench.conformance import Rule
from pushbench.site.layout import Data

Block = Data
"""`{"text": ...}`, `{"items": [...]}`, `{"rows": [[...]]}` for a table that begins with its heading, or `{"code":
...}`; text may have parts between backticks"""

_HEADING = re.compile(r"^#+ (.*)$")
_RULE = re.compile(r"^\|(:?-+:?\|)+$")
_PROTOCOL = re.compile(r"^`([^`]+)`: (.+)$")
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")
"""the page shows only its text"""
CONTRACT = "The contract of every server"


def protocols(markdown: str) -> dict[str, Data]:
    """The description of each protocol, by name."""
    found = ((_PROTOCOL.match(heading), blocks) for heading, blocks in _sections(markdown).items())
    return {each[1]: {"title": each[2], "blocks": blocks} for each, blocks in found if each}


def contract(markdown: str) -> list[Block]:
    """The promises of all servers, whatever their suite."""
    return _sections(markdown).get(CONTRACT, [])


def promises(markdown: str, suite: str, rules: Mapping[str, Sequence[Rule]]) -> list[Block]:
    """The further promises of a suite's servers: its rules by protocol, and the explanations in the markdown."""
    by_name = [{rule.name: rule.statement for rule in own} for own in rules.values()]
    common = {name: text for name, text in by_name[0].items() if all(name in own for own in by_name)} if by_name else {}
    blocks: list[Block] = [{"items": [*common.values()]}] if common else []
    for protocol, own in zip(rules, by_name, strict=True):
        if further := [text for name, text in own.items() if name not in common]:
            blocks += [{"text": f"Over `{protocol}` also:"}, {"items": further}]
    return blocks + _sections(markdown).get(f"Rules of {suite}", [])


def _sections(markdown: str) -> dict[str, list[Block]]:
    """The blocks below each heading, up to the next one."""
    lines: dict[str, list[str]] = {}
    heading, in_code = "", False
    for line in markdown.splitlines():
        in_code ^= line.startswith("```")
        if not in_code and (found := _HEADING.match(line)):
            heading = found[1]
        else:
            lines.setdefault(heading, []).append(line)
    return {name: _blocks(own) for name, own in lines.items()}


def _blocks(lines: list[str]) -> list[Block]:
    blocks: list[Block] = []
    for number, part in enumerate("\n".join(lines).split("```")):
        if number % 2:
            blocks.append({"code": part.strip("\n")})
        else:
            plain = _LINK.sub(r"\1", part).splitlines()
            paragraphs = (list(group) for filled, group in groupby(plain, key=bool) if filled)
            blocks += [_paragraph(each) for each in paragraphs]
    return blocks


def _paragraph(lines: list[str]) -> Block:
    if len(lines) > 1 and _RULE.match(lines[1]):
        return {"rows": [_cells(line) for line in (lines[0], *lines[2:])]}
    if not lines[0].startswith("- "):
        return {"text": " ".join(lines)}
    return {"items": [" ".join(item.split()) for item in "\n".join(["", *lines]).split("\n- ")[1:]]}


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]
