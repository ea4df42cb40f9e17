"""Samples of perf become functions; addresses of a stripped Go binary are named by `go tool addr2line`."""

from __future__ import annotations

from pathlib import Path

import pytest

from pushbench.profiling.elf import Segment
from pushbench.profiling.perf import add_perf, go_names, lookups, read_samples
from pushbench.profiling.profile import Profile, Unprofiled

BINARY = Path("/servers/go/target/server")
CODE = [Segment(0x1000, 0x2F0000, 0x401000)]
TEXT = b"""\
 4242  100.500000:    1003009
\t          5e1a0 [unknown] (/servers/go/target/server)
\t          5e2b1 [unknown] (/servers/go/target/server)

 4242  100.600000:    1003009
\tffffffff81a00000 tcp_sendmsg ([kernel.kallsyms])
\tffffffff81a00100 entry_SYSCALL_64 ([kernel.kallsyms])
\t          5e1a0 [unknown] (/servers/go/target/server)

 4242  200.000000:    1003009
\t          5e1a0 [unknown] (/servers/go/target/server)

"""
ANSWER = """\
main.(*board).broadcast
whiteboard/board.go:42
main.(*board).broadcast
whiteboard/board.go:42
main.main.func1
whiteboard/main.go:7
"""


def read(answer: str = ANSWER) -> Profile:
    samples = read_samples(TEXT, [(100.0, 101.0)])
    names = go_names(lookups(samples, BINARY), CODE, lambda _: answer)
    profile = Profile()
    add_perf(profile, samples, BINARY, names, "whiteboard")
    return profile


def test_functions_of_go_have_their_files_and_the_kernel_is_one_frame() -> None:
    stacks = [[each.title(each.line) for each in stack] for stack in read().stacks]
    assert stacks == [
        ["main.main.func1 (main.go:7)", "main.(*board).broadcast (board.go:42)"],
        ["main.(*board).broadcast (board.go:42)", "(kernel)"],
    ]


def test_a_sample_counts_its_period_inside_the_windows_only() -> None:
    assert read().seconds == pytest.approx(0.002006018)


def test_the_address_of_a_caller_is_looked_up_where_it_calls() -> None:
    asked: list[str] = []

    def look_up(addresses: str) -> str:
        asked.append(addresses)
        return ""

    with pytest.raises(Unprofiled, match="does not name"):
        go_names(lookups(read_samples(TEXT, [(100.0, 101.0)]), BINARY), CODE, look_up)
    assert asked == ["0x45e19f\n0x45e1a0\n0x45e2b0\n"]


def test_symbols_of_rust_lose_the_hash_of_their_build() -> None:
    send = b"\t 1234 server::board::send::h0123456789abcdef (/x/server)\n"
    text = b" 1 1.5: 1000000 \n" + send + b"\t 99 [unknown] (/lib/libc.so.6)\n"
    profile = Profile()
    add_perf(profile, read_samples(text, [(1.0, 2.0)]), BINARY, {})
    [stack] = profile.stacks
    assert [each.function for each in stack] == ["(libc.so.6)", "server::board::send"]


@pytest.mark.parametrize("text", [b"garbage\n", b"\t 5e1a0 f (/x)\n", b" 1 1.5: 1000000 \n\tzz f (/x)\n"])
def test_what_is_no_output_of_perf_is_refused(text: bytes) -> None:
    with pytest.raises(Unprofiled, match="not the output of `perf script`: line"):
        read_samples(text, [(0.0, 10.0)])
