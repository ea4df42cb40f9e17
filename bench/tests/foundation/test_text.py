"""Text for users."""

from __future__ import annotations

import pytest

from pushbench.foundation.text import counted, joined


@pytest.mark.parametrize(("number", "said"), [(0, "0 runs"), (1, "1 run"), (2, "2 runs"), (2000, "2,000 runs")])
def test_one_is_not_plural(number: int, said: str) -> None:
    assert counted(number, "run") == said


@pytest.mark.parametrize(("names", "said"), [("", ""), ("a", "a"), ("ab", "a and b"), ("abc", "a, b and c")])
def test_names_are_joined_as_in_a_sentence(names: str, said: str) -> None:
    assert joined(list(names)) == said
