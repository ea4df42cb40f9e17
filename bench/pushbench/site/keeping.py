"""Which full records a site keeps, so that it stays within the size limit of its host. Pure.

The measurements of a commit stay in the history forever; a full record with its derived files is nine times as large.
The history alone determines which records stay, so publishers produce the same files in any order.
"""

from __future__ import annotations

from collections.abc import Mapping

PUBLISHED = 200
"""full records that a published branch keeps: about 350 MB of runs of 13 servers and 7 stages (docs/site.md)"""
ALLOWED_BYTES = 1_000_000_000
"""of a site on GitHub Pages, https://docs.github.com/en/pages/getting-started-with-github-pages/github-pages-limits"""
NEARLY = 0.8
"""of the limit: from there on, each run prints a warning, hundreds of runs before it is too late"""

Series = tuple[str, ...]
"""environment, suite, profile"""


def outdated(history: Mapping[str, Series], keep: int | None) -> set[str]:
    """The runs whose full records are dropped, from a history's runs by their ids. All stay out except the newest
    `keep`, and the newest of each series, which provides its environment and the verdict beside its trends.
    """
    if keep is None:
        return set()
    ids = sorted(history)
    newest = {history[each]: each for each in ids}
    return set(ids[: max(0, len(ids) - keep)]) - set(newest.values())


def warning(size: int) -> str | None:
    if size < NEARLY * ALLOWED_BYTES:
        return None
    return f"the site has {size / 1e9:.2f} GB, of the 1 GB that GitHub Pages allows: keep fewer full records"
