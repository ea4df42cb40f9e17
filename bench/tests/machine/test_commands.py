from __future__ import annotations

import pytest

from pushbench.machine.commands import CommandFailed, CommandTimedOut, answer


def ask(script: str, given: bytes | None = None, seconds: float = 60.0) -> bytes:
    return answer(["sh", "-c", script], seconds, named="sh script", given=given).stdout


def test_what_a_program_prints_is_its_answer() -> None:
    assert ask("cat; echo aside >&2", b"asked\n") == b"asked\n"
    assert ask("cat") == b"", "the input of this process is not its own"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("echo one >&2; echo ' two ' >&2; echo >&2; exit 3", "two"),
        ("echo out; exit 3", "`sh script` ended with 3"),
    ],
)
def test_a_failure_is_told_in_one_line(script: str, why: str) -> None:
    with pytest.raises(CommandFailed) as told:
        ask(script)
    assert str(told.value) == why


def test_a_program_that_is_not_there_is_named() -> None:
    with pytest.raises(CommandFailed, match=r"^nothing: No such file or directory$"):
        answer(["/bin/nothing", "here"], 60.0, named="nothing here")


def test_a_program_that_does_not_end_is_not_waited_for() -> None:
    with pytest.raises(CommandTimedOut, match=r"^`sh script` did not answer within 0.1 s$"):
        ask("exec sleep 600", seconds=0.1)
