"""A comment on a pull request that starts a measurement: its request, and whether to carry it out. Pure.

Any user can comment, so the text is untrusted: only one line of a strict grammar counts, and every value has a form.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from pushbench.catalog.servers import Server, select
from pushbench.ci.event import DEPENDABOT, Inputs, Ref, not_understood, read_payload
from pushbench.foundation.errors import UserError
from pushbench.foundation.text import one_line
from pushbench.foundation.yamlfile import nearest, unknown
from pushbench.reporting.markdown import escape, fenced

WORD = "/pushbench"
LONGEST_LINE = 500
SHOWN = 60
"""characters shown of a wrong word"""
KEYS: Mapping[str, str] = {
    "servers": "ids, patterns such as node-* or tiers such as tier:tuned, with commas and no spaces",
    "profile": "the name of a profile, such as full",
    "rounds": "a number from 1 to 999",
    "head": "all 40 digits of the commit: an abbreviated SHA can be forged",
}
VERBS: Mapping[str, Sequence[str]] = {"measure": tuple(KEYS), "accept": ("head",), "help": ()}
"""the verbs and their keys; without a verb, it is `measure`"""
USAGE = (
    f"{WORD}                                      compare what the pull request changed",
    f"{WORD} servers=node-ws profile=full rounds=3",
    f"{WORD} head=<40 digits>                     of a fork or of Dependabot: the commit that you have read",
    f"{WORD} accept head=<40 digits>              and confirm what its thresholds.yml accepts",
    f"{WORD} help",
)
TITLE = "bench pull request {number} at {head}"
"""the run-name of bench.yml"""
RUN_MARK = re.compile(r"<!-- pushbench-run ([0-9a-f]{64}) ([0-9]{1,20}) -->")

Verb = Literal["measure", "accept", "help"]


class CommentEvent(BaseModel):
    """The event `issue_comment`, on a pull request and by a person."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    number: int = Field(ge=1)
    comment: int = Field(ge=1)
    body: str = Field(max_length=65_536)
    login: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,100}$")]
    default_branch: Ref


@dataclass(frozen=True)
class Command:
    verb: Verb
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """The reply if nothing is started."""

    sentence: str
    examples: Sequence[str] = USAGE
    """lines of a code block, from our words only"""


@dataclass(frozen=True)
class Pull:
    number: int
    is_open: bool
    head: str
    own: bool
    """a user with write access pushed it to a branch of the repository"""


@dataclass(frozen=True)
class Known:
    """The servers and profiles of the default branch."""

    servers: Sequence[Server]
    profiles: Sequence[str]


def read_comment(environment: Mapping[str, str]) -> CommentEvent | None:
    """The comment of this job; None for a bot's comment, or one on an issue. Raises UserError for another event."""
    payload = read_payload(environment)
    if environment.get("GITHUB_EVENT_NAME") != "issue_comment" or payload.get("action") != "created":
        raise UserError("not the event of a new comment", hint="`pushbench ci command` is for issue_comment: created")
    if not _at(payload, "issue", "pull_request") or _at(payload, "comment", "user", "type") != "User":
        return None
    facts = {
        "number": _at(payload, "issue", "number"),
        "comment": _at(payload, "comment", "id"),
        "body": _at(payload, "comment", "body"),
        "login": _at(payload, "comment", "user", "login"),
        "default_branch": _at(payload, "repository", "default_branch"),
    }
    try:
        return CommentEvent.model_validate(facts)
    except ValidationError as error:
        raise not_understood(environment, error) from None


def parse(body: str) -> Command | Answer | None:
    """The command in a comment's first line; None if that is not a command."""
    line = re.split(r"[\r\n]", body, maxsplit=1)[0].rstrip(" \t")
    first, *words = re.split(r"[ \t]+", line)
    if first != WORD:
        return None
    if len(line) > LONGEST_LINE:
        return Answer(f"The line has more than {LONGEST_LINE} characters.")
    verb: Verb = "measure"
    if words and "=" not in words[0]:
        match words.pop(0):
            case "measure" | "accept" | "help" as found:
                verb = found
            case other:
                return Answer(f"There is no command {_shown(other)}.{_meant(other, [*VERBS, *KEYS])}")
    options: dict[str, str] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in VERBS[verb]:
            taken = f"{verb} takes {', '.join(VERBS[verb]) or 'nothing else'}"
            return Answer(f"{_shown(key)} is not understood: {taken}.{_meant(key, VERBS[verb])}")
        if key in options:
            return Answer(f"{key} is given twice.")
        if not _formed(key, value):
            return Answer(f"{key} is {_shown(value)}, expected {KEYS[key]}.")
        options[key] = value
    return Command(verb, options)


def decide(command: Command, pull: Pull, known: Known) -> dict[str, str] | Answer:
    """The inputs of bench.yml, or the reason why it is not started."""
    if command.verb == "help":
        return Answer("The first line of a comment can be one of these commands:")
    if not pull.is_open:
        return Answer("The pull request is closed: nothing is measured.", ())
    named = command.options.get("head")
    again = " ".join([WORD, *(["accept"] if command.verb == "accept" else []), *_without_head(command)])
    if named is None and not pull.own:
        sentence = (
            "Pushbench builds and runs what it measures, and this pull request is from a fork or Dependabot: read its "
            "commit first, and name the commit that you have read. This is its head now:"
        )
        return Answer(sentence, [f"{again} head={pull.head}"])
    if named not in (None, pull.head):
        sentence = f"The pull request is at {pull.head}, not at {named}. Read that commit first. Then write:"
        return Answer(sentence, [f"{again} head={pull.head}"])
    try:
        _require_known(command, known)
    except UserError as error:
        return Answer(f"Nothing is started: {escape(one_line(str(error), 1000))}.", ())
    inputs = {"pull_request": str(pull.number), **command.options, "head": pull.head}
    return {**inputs, "accept": "true"} if command.verb == "accept" else inputs


def trusted(head_repository: int | None, base_repository: int | None, author: str | None) -> bool:
    """Whether the pull request comes from a branch of the repository itself, and from a person."""
    return head_repository is not None and head_repository == base_repository and author not in (DEPENDABOT, None)


def digest(inputs: Mapping[str, str]) -> str:
    """Identifies the same command."""
    return hashlib.sha256(json.dumps(inputs, sort_keys=True).encode()).hexdigest()


def mark(comment: int) -> str:
    """The first line of the reply to a comment."""
    return f"<!-- pushbench-reply {comment:d} -->"


def run_of(reply: str, wanted: str) -> int | None:
    """The run in our reply, if a command with that digest started it."""
    lines = reply.splitlines()
    found = RUN_MARK.fullmatch(lines[1]) if len(lines) > 1 else None
    return int(found[2]) if found and found[1] == wanted else None


def started(comment: int, inputs: Mapping[str, str], run: int, url: str, *, before: bool) -> str:
    """The reply that names the run; `before` if an earlier comment has started it."""
    headline = "already under way" if before else "started"
    what = f"Pull request {inputs['pull_request']} at {inputs['head']}"
    details = [f"{key}: {inputs[key]}" for key in ("servers", "profile", "rounds") if key in inputs]
    if "accept" in inputs:
        details.append("what its thresholds.yml accepts is confirmed")
    text = f"{what} is compared with its merge base" + "".join(f"; {each}" for each in details)
    return "\n".join(
        [
            mark(comment),
            f"<!-- pushbench-run {digest(inputs)} {run:d} -->",
            f"### Pushbench: {headline}",
            "",
            f"[Run {run:d}]({url}): {escape(text)}.",
            "",
            "The check `Pushbench` of that commit shows the progress, and a comment shows the result.",
        ]
    )


def refused(comment: int, answer: Answer) -> str:
    """The reply if nothing is started."""
    lines = [mark(comment), "", answer.sentence, ""]
    return "\n".join([*lines, *fenced(answer.examples, "text")] if answer.examples else lines)


def _require_known(command: Command, known: Known) -> None:
    names = command.options.get("servers", "")
    select(known.servers, [name for name in names.split(",") if name])
    profile = command.options.get("profile")
    if profile and profile not in known.profiles:
        raise unknown("profile", profile, known.profiles)


def _formed(key: str, value: str) -> bool:
    if not value or (key == "rounds" and not value.strip("0")):
        return False
    try:
        Inputs.model_validate({key: value})
    except ValidationError:
        return False
    return True


def _without_head(command: Command) -> list[str]:
    return [f"{key}={value}" for key, value in command.options.items() if key != "head"]


def _meant(word: str, known: Sequence[str]) -> str:
    guess = nearest(word[:SHOWN], known)
    return f" Did you mean {guess}?" if guess else ""


def _shown(text: str) -> str:
    return f'"{escape(one_line(text, SHOWN))}"'


def _at(found: Any, *path: str) -> Any:
    for key in path:
        found = found.get(key) if isinstance(found, dict) else None
    return found
