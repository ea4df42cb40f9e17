"""What servers and clients say to each other, for the page about the method: sections of docs/protocols.md. Pure."""

from __future__ import annotations

import re
from itertools import groupby

from pushbench.site.layout import Data

Block = Data
"""`{"text": ...}`, `{"items": [...]}` or `{"code": ...}`; text may have parts between backticks"""

_HEADING = re.compile(r"^#+ (.*)$")
_PROTOCOL = re.compile(r"^`([^`]+)`: (.+)$")
CONTRACT = "The contract of every server"


def protocols(markdown: str) -> dict[str, Data]:
    """By the names of the protocols what each is, in which words."""
    found = ((_PROTOCOL.match(heading), blocks) for heading, blocks in _sections(markdown).items())
    return {each[1]: {"title": each[2], "blocks": blocks} for each, blocks in found if each}


def contract(markdown: str) -> list[Block]:
    """What all servers promise, whatever they speak."""
    return _sections(markdown).get(CONTRACT, [])


def _sections(markdown: str) -> dict[str, list[Block]]:
    """The blocks below each heading, until the next one."""
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
            paragraphs = (list(group) for filled, group in groupby(part.splitlines(), key=bool) if filled)
            blocks += [_paragraph(each) for each in paragraphs]
    return blocks


def _paragraph(lines: list[str]) -> Block:
    if not lines[0].startswith("- "):
        return {"text": " ".join(lines)}
    return {"items": [" ".join(item.split()) for item in "\n".join(["", *lines]).split("\n- ")[1:]]}
