"""The database of the posts server of these tests: rows in memory, and what is asked past the server."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pushbench.machine.resources import Tree


class Away(Exception):
    """The database does not answer."""


@dataclass
class Table:
    """Rows as the service `mysql` would have them. `connections` is what its list of processes would tell."""

    faults: frozenset[str]
    name: str = "mysql"
    url: str = "mysql://pushbench:pushbench@127.0.0.1:1/pushbench"
    tree: Tree = field(default_factory=lambda: Tree(0))
    rows: dict[int, tuple[str, str]] = field(default_factory=dict)
    numbers: int = 0
    active: int = 0
    connections: int = 2
    away: bool = False
    was_away: bool = False

    def insert(self, title: str, content: str) -> int:
        if self.away or ("outage-is-for-ever" in self.faults and self.was_away):
            raise Away
        self.numbers += 1
        self.rows[self.numbers] = title, content
        return self.numbers

    def find(self, no: int) -> tuple[str, str] | None:
        if self.away:
            raise Away
        return self.rows.get(no)

    def ask(self, question: str) -> str:
        if "processlist" in question:
            return f"{self.connections}\n"
        if "COUNT" in question:
            return f"{len(self.rows)}\n"
        wanted = map(int, re.findall(r"\d+", question.partition(" IN ")[2]))
        found = ((no, *self.rows[no]) for no in wanted if no in self.rows)
        return "".join(f"{no}\t{title.encode().hex()}\t{content.encode().hex()}\n" for no, title, content in found)

    @contextlib.contextmanager
    def outage(self) -> Iterator[None]:
        self.away = self.was_away = True
        if "commits-are-forgotten" in self.faults:
            self.rows.clear()
        yield
        self.away = False
