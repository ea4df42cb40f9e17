"""Which full records a site keeps, so that it stays as small as its host asks for. Pure.

What was measured of a commit stays for ever in the history; a full record, with what is made of it, is nine times as
large. Which ones stay follows from the history alone, so publishers leave the same files in any order.
"""

from __future__ import annotations

from collections.abc import Mapping

PUBLISHED = 200
"""full records that a published branch keeps: about 350 MB of runs of 13 servers and 7 stages (docs/site.md)"""
ALLOWED_BYTES = 1_000_000_000
"""of a site on GitHub Pages, https://docs.github.com/en/pages/getting-started-with-github-pages/github-pages-limits"""
NEARLY = 0.8
"""of what is allowed: from there on it is told with every run, hundreds of runs before it is too late"""

Series = tuple[str, ...]
"""environment, suite, profile"""


def outdated(history: Mapping[str, Series], keep: int | None) -> set[str]:
    """The runs whose full records are left out, of a history's runs by their ids: all but the newest `keep`, and the
    newest of each series, which its environment and the verdict beside its trends are told from."""
    if keep is None:
        return set()
    ids = sorted(history)
    newest = {history[each]: each for each in ids}
    return set(ids[: max(0, len(ids) - keep)]) - set(newest.values())


def warning(size: int) -> str | None:
    if size < NEARLY * ALLOWED_BYTES:
        return None
    return f"the site has {size / 1e9:.2f} GB, of the 1 GB that GitHub Pages allows: keep fewer full records"
