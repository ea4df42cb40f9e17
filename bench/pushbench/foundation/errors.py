"""The only error that people see: what is wrong, where, and what to do.

Any other exception that escapes is a bug of Pushbench.
"""

from __future__ import annotations

EXIT_PASS = 0
EXIT_FAIL = 1
EXIT_USAGE = 2
EXIT_UNDECIDED = 3
EXIT_GAVE_WAY = 4
"""exit code of a run that ended between two servers for another one, and can be resumed"""


class UserError(Exception):
    """A mistake of the user or a problem outside Pushbench, reported in one line; the command exits with 2.

    `what` is a sentence without the final full stop; `where` is a file, optionally with `:line`, or a command;
    `hint` says what to do next.
    """

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what, self.where, self.hint = what, where, hint

    def __str__(self) -> str:
        line = f"{self.where}: {self.what}" if self.where else self.what
        return f"{line}; {self.hint}" if self.hint else line
