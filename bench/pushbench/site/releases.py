"""Releases: tags of a git repository that have a version as name, and the file that keeps them beside a site.

Tags come from git if there is a repository. The file keeps them for sites that are built without them, such as from a
shallow checkout. A tag's name is untrusted text until it is known to be a version.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, StringConstraints, ValidationError

from pushbench.foundation.errors import UserError
from pushbench.foundation.git import git
from pushbench.foundation.model import Document

FILE = "releases.json"
SCHEMA = 1
VERSION = r"^v?[0-9]{1,9}(\.[0-9]{1,9}){1,3}$"
"""without `-rc.1`: a pre-release is no release"""
_OBJECT = ("objecttype", "objectname", "committerdate:iso-strict")
_FORMAT = "%00".join(["%(refname:strip=2)", *(f"%({each})" for each in _OBJECT), *(f"%(*{each})" for each in _OBJECT)])
"""the tag's own object, and the object that an annotated tag points to"""


def _universal(text: str) -> str:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("an instant has an offset")
    return moment.astimezone(UTC).isoformat()


class Release(Document):
    name: Annotated[str, StringConstraints(pattern=VERSION)]
    commit: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
    date: Annotated[str, AfterValidator(_universal)]
    """of the commit, not of the tag: later runs contain the released commit, whenever it was tagged"""


def read_tags(folder: Path) -> list[Release]:
    """The releases of the checkout or bare repository `folder`; none without git or a repository."""
    answer = git(folder, "for-each-ref", f"--format={_FORMAT}", "refs/tags")
    return merged([], _releases(answer.text.split("\n")))


def _releases(lines: Iterable[str]) -> Iterator[Release]:
    """The releases, without tags of other objects than commits and without invalid dates."""
    for line in lines:
        name, *objects = line.split("\0")
        found = next((objects[at : at + 3] for at in (0, 3) if objects[at : at + 1] == ["commit"]), None)
        if found and re.match(VERSION, name):
            try:
                yield Release(name=name, commit=found[1], date=found[2])
            except (ValidationError, OverflowError):
                continue


def merged(kept: Iterable[Release], found: Iterable[Release]) -> list[Release]:
    """The releases, oldest first. `found` takes precedence over `kept`: a tag may have been moved."""
    named = {each.name: each for each in [*kept, *found]}
    return sorted(named.values(), key=lambda each: (datetime.fromisoformat(each.date), each.name))


def read_kept(file: Path) -> list[Release]:
    """The releases in the file; none if it is missing. Raises UserError for an unreadable file."""
    try:
        content = json.loads(file.read_bytes())
        if isinstance(content, dict) and content.get("schema") == SCHEMA:
            return [Release.model_validate(each) for each in content["releases"]]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, OverflowError) as error:
        raise UserError(f"not a list of releases: {str(error).splitlines()[0]}", where=str(file)) from None
    raise UserError(f"not a list of releases of schema {SCHEMA}", where=str(file))


def as_json(releases: Sequence[Release]) -> bytes:
    """One release per line, so that a new release adds one line in a branch."""
    lines = ",\n  ".join(json.dumps(each.model_dump()) for each in releases)
    return f'{{\n "schema": {SCHEMA},\n "releases": [\n  {lines}\n ]\n}}\n'.encode()
