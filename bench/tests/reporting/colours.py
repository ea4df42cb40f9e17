"""The appearance of colours to readers with and without colour blindness, and the distance between two colours."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

VISIONS: Mapping[str, Array] = {
    "all colours": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
"""matrices on linear RGB: Machado, Oliveira and Fernandes (IEEE TVCG 15, 2009), severity 1"""
_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)
_WHITE = np.array([0.95047, 1.0, 1.08883])
"""D65"""


def seen_by(vision: str, colour: str) -> Array:
    """CIELAB of `#rrggbb`, as a reader with this vision sees it."""
    seen = np.clip(VISIONS[vision] @ _linear(colour), 0, 1)
    share = (_XYZ @ seen) / _WHITE
    f = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(one: str, other: str) -> float:
    """The contrast as defined by WCAG: 1 to 21."""
    light, dark = sorted((float(_XYZ[1] @ _linear(each)) for each in (one, other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def difference(one: Array, other: Array) -> float:
    """CIEDE2000 of two colours in CIELAB, in the notation of Sharma, Wu and Dalal (2005)."""
    chroma = (np.hypot(*one[1:]) + np.hypot(*other[1:])) / 2
    g = 0.5 * (1 - _seventh(chroma))
    (l1, c1, h1), (l2, c2, h2) = (_polar(each, 1 + g) for each in (one, other))
    l_mean, c_mean = (l1 + l2) / 2, (c1 + c2) / 2
    turn = (h2 - h1 + 180) % 360 - 180 if c1 * c2 else 0.0
    h_mean = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2))
    weight = 1 - 0.17 * _cos(h_mean - 30) + 0.24 * _cos(2 * h_mean) + 0.32 * _cos(3 * h_mean + 6)
    weight -= 0.20 * _cos(4 * h_mean - 63)
    rotation = -np.sin(np.radians(60 * np.exp(-(((h_mean - 275) / 25) ** 2)))) * 2 * _seventh(c_mean)
    s_l = 1 + 0.015 * (l_mean - 50) ** 2 / np.sqrt(20 + (l_mean - 50) ** 2)
    d_l, d_c, d_h = (l2 - l1) / s_l, (c2 - c1) / (1 + 0.045 * c_mean), hue / (1 + 0.015 * c_mean * weight)
    return float(np.sqrt(d_l**2 + d_c**2 + d_h**2 + rotation * d_c * d_h))


def _linear(colour: str) -> Array:
    share = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)


def _polar(lab: Array, stretched: float) -> tuple[float, float, float]:
    a, b = lab[1] * stretched, lab[2]
    return float(lab[0]), float(np.hypot(a, b)), float(np.degrees(np.arctan2(b, a)) % 360)


def _seventh(chroma: float) -> float:
    return float(np.sqrt(chroma**7 / (chroma**7 + 25.0**7)))


def _cos(degrees: float) -> float:
    return float(np.cos(np.radians(degrees)))
