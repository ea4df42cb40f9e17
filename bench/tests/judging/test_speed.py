"""The machine was slower if the generator's own CPU changed beyond the margin and beyond its scatter."""

from __future__ import annotations

import pytest

from pushbench.judging.speed import relative_change, sentence, without

CALM = (30.0, 30.3, 29.7, 30.6, 29.4, 30.0)
NOISY = (30.0, 36.0, 24.0, 33.0, 27.0, 30.0)


@pytest.mark.parametrize(
    ("past", "now", "found"),
    [
        (CALM, 45.0, 0.5),
        (CALM, 15.0, -0.5),
        (CALM, 31.0, None),  # within the margin
        (NOISY, 36.0, None),  # within the scatter
        (NOISY, 60.0, 1.0),
        (CALM[:4], 45.0, None),  # too few runs
        ((*CALM, 0.0), 45.0, None),
        (CALM, 0.0, None),
        ((10.0,) * 8 + CALM + CALM, 30.0, None),  # an older change is no longer one of the machine's speed
    ],
)
def test_a_change_is_beyond_the_margin_and_the_scatter(
    past: tuple[float, ...], now: float, found: float | None
) -> None:
    assert relative_change(past, now, margin=0.05) == (None if found is None else pytest.approx(found))


def test_a_server_follows_the_machine_by_the_square_at_most() -> None:
    assert without(0.5, 9.0) == pytest.approx(4.0)
    assert without(-0.5, 1.0) == pytest.approx(4.0)


def test_the_sentence_names_the_direction() -> None:
    assert "changed by +62 %, too" in sentence(0.62)
    assert "the machine was faster" in sentence(-0.3)
