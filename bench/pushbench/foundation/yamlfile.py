"""YAML files as documents: safe, without duplicate keys, with file and line in every error.

The models define the keys; this module reports where and how a file departs from them.
"""

from __future__ import annotations

import difflib
import re
import types
import typing
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from yaml.constructor import ConstructorError
from yaml.error import MarkedYAMLError, YAMLError
from yaml.events import CollectionEndEvent, CollectionStartEvent
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from pushbench.foundation.errors import UserError
from pushbench.foundation.text import one_line

M = TypeVar("M", bound=BaseModel)
Location = tuple[str | int, ...]

MOST_BYTES = 64 << 10
"""of a file; the largest of the project has 12 KB"""
MOST_NODES = 10_000
"""keys, values and items, where each alias counts as its target: nine aliases of nine aliases, eight levels deep, are
43 million nodes in a file of half a kilobyte"""
MOST_DEPTH = 50
MOST_SHOWN = 200
"""characters of a wrong value"""
_KEY_ERRORS = ("missing", "extra_forbidden")
"""errors whose location ends with a key that is missing, or must not be there"""


@dataclass(frozen=True)
class YamlFile:
    """The content of a file, with the line of every key and item."""

    path: Path
    data: Any
    lines: dict[Location, int] = field(repr=False)

    def error(self, location: Location, what: str, hint: str | None = None) -> UserError:
        """The error for a mistake at `location`, with the nearest line in the file."""
        known = next(location[:n] for n in range(len(location), -1, -1) if location[:n] in self.lines)
        dotted = ".".join(str(part) for part in location)
        return UserError(f"{dotted}: {what}" if dotted else what, where=f"{self.path}:{self.lines[known]}", hint=hint)

    def validate(self, model: type[M]) -> M:
        """The file as a `model`; raises UserError for the first departure, in the order of the file."""
        try:
            return model.model_validate(self.data)
        except ValidationError as invalid:
            errors = [(self._locate(each), each) for each in invalid.errors()]
        location, details = min(errors, key=lambda error: self._line(error[0]))
        what, hint = _explain(model, location, details)
        raise self.error(location, what, hint)

    def _line(self, location: Location) -> int:
        return next(self.lines[location[:n]] for n in range(len(location), -1, -1) if location[:n] in self.lines)

    def _locate(self, details: ErrorDetails) -> Location:
        """The location without what pydantic adds to it, names of union members and `[key]`; the file has neither."""
        location: Location = ()
        last = len(details["loc"]) - 1
        for place, part in enumerate(details["loc"]):
            if (*location, part) in self.lines or (place == last and details["type"] in _KEY_ERRORS):
                location = (*location, part)
        return location


def read_yaml(path: Path) -> YamlFile:
    """Read one YAML document. Raises UserError for a missing file, a syntax error or a duplicate key."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise _too_large(path)
        text = content.decode("utf-8")
    except FileNotFoundError:
        raise UserError("no such file", where=str(path)) from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot be read: {error}", where=str(path)) from None
    return parse_yaml(text, path)


def parse_yaml(text: str, path: Path) -> YamlFile:
    """Parse the YAML document of `path`. Raises UserError for a syntax error or a duplicate key."""
    if len(text) > MOST_BYTES:
        raise _too_large(path)
    try:
        _require_shallow(text, path)
        loader = _Loader(text)
        node = loader.get_single_node()
        if node:
            _require_bounded(node, path)
        lines = dict(_lines(node, ())) if node else {}
        data = loader.construct_document(node) if node else None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise UserError(f"not valid YAML: {_first_line(error)}", where=f"{path}{line}") from None
    except YAMLError as error:
        raise UserError(f"not valid YAML: {str(error).splitlines()[0]}", where=str(path)) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        # The parser raises this for values that do not match their tag, such as `!!int x` and the date 2026-13-40.
        raise UserError(f"not valid YAML: a value that cannot be read ({_cut(str(error))})", where=str(path)) from None
    return YamlFile(path, data, {(): 1} | lines)


def compose(text: str) -> Node | None:
    """The nodes of a document that `parse_yaml` has read, with their places; None for an empty one. Deep nesting, which
    `parse_yaml` refuses, would crash the process here.
    """
    return yaml.compose(text, _Loader)


def load_yaml(path: Path, model: type[M]) -> M:
    return read_yaml(path).validate(model)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is nearest to `name`."""
    return next(iter(difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)), None)


def unknown(kind: str, name: str, known: Sequence[str], where: str | None = None) -> UserError:
    """The error for a name that is not in a list, with the nearest name and the list."""
    guess = nearest(name, known)
    meant = f"did you mean {guess}? " if guess else ""
    return UserError(f"unknown {kind} {name!r}", where=where, hint=f"{meant}known: {', '.join(known) or 'none'}")


def _too_large(path: Path) -> UserError:
    return UserError(f"larger than {MOST_BYTES:,} bytes", where=str(path))


class _Loader(yaml.CSafeLoader):
    """Reads the types of YAML 1.2's core schema (section 10.3.2) and dates. PyYAML's own types are those of YAML 1.1,
    where `on` and `no` are booleans, 010 is 8 and 1:30 is 90.
    """

    def construct_yaml_int(self, node: ScalarNode) -> int:
        text = self.construct_scalar(node)
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)


_DIGITS = "-+0123456789"
_FLOAT = r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)"
_Loader.yaml_implicit_resolvers = {}
for _tag, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", _DIGITS),
    ("float", _FLOAT, _DIGITS + "."),
    ("timestamp", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", _DIGITS),
    ("merge", r"<<", "<"),
):
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"^(?:{_pattern})$"), list(_first))
_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.construct_yaml_int)


def _require_shallow(text: str, path: Path) -> None:
    """Raise UserError for a document that is nested too deeply. The C parser recurses without a bound: 30,000 brackets
    crash the process. Its events arrive one at a time, which is safe.
    """
    depth = 0
    for event in yaml.parse(text, _Loader):
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if depth > MOST_DEPTH:
            raise UserError(f"nested deeper than {MOST_DEPTH} levels", where=str(path))


def _require_bounded(root: Node, path: Path) -> None:
    """Raise UserError for a document that aliases expand beyond the bound: the parser resolves aliases later."""
    sizes: dict[int, int] = {}

    def size(node: Node, above: tuple[int, ...]) -> int:
        where = f"{path}:{node.start_mark.line + 1}"
        if id(node) in above:
            raise UserError("an alias of a value that contains it", where=where)
        if id(node) not in sizes:
            within = (*above, id(node))
            sizes[id(node)] = 1 + sum(size(child, within) for child in _children(node))
        if sizes[id(node)] > MOST_NODES:
            raise UserError(f"more than {MOST_NODES:,} keys and values, with aliases expanded", where=where)
        return sizes[id(node)]

    size(root, ())


def _children(node: Node) -> Iterable[Node]:
    if isinstance(node, MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, SequenceNode) else []


def _cut(text: str) -> str:
    return one_line(text, MOST_SHOWN)


def _first_line(error: MarkedYAMLError) -> str:
    return _cut(str(error.problem or error.context).splitlines()[0])


def _lines(node: Node, at: Location) -> Iterable[tuple[Location, int]]:
    if isinstance(node, MappingNode):
        keys: set[str] = set()
        for key, value in node.value:
            if not isinstance(key, ScalarNode):
                raise ConstructorError(problem="a key must be plain text", problem_mark=key.start_mark)
            if key.value in keys:
                raise ConstructorError(problem=f'found duplicate key "{key.value}"', problem_mark=key.start_mark)
            keys.add(key.value)
            yield (*at, key.value), key.start_mark.line + 1
            yield from _lines(value, (*at, key.value))
    elif isinstance(node, SequenceNode):
        for index, value in enumerate(node.value):
            yield (*at, index), value.start_mark.line + 1
            yield from _lines(value, (*at, index))


def _explain(model: type[BaseModel], location: Location, details: ErrorDetails) -> tuple[str, str | None]:
    kind = details["type"]
    if kind == "extra_forbidden":
        siblings = _keys(_annotation(model, location[:-1]))
        guess = nearest(str(location[-1]), siblings)
        return "unknown key", f"did you mean {guess}?" if guess else f"known keys: {', '.join(siblings)}"
    if kind == "missing":
        return f"missing; expected {describe(_annotation(model, location))}", None
    if kind == "literal_error":
        return f"expected {details['ctx']['expected']}, found {_found(details['input'])}", None
    if kind.endswith(("_type", "_parsing")):
        return f"expected {describe(_annotation(model, location))}, found {_found(details['input'])}", None
    return f"{details['msg'].removeprefix('Value error, ')}, found {_found(details['input'])}", None


def _keys(annotation: Any) -> list[str]:
    model = next((each for each in _members(annotation) if _is_model(each)), None)
    return [info.alias or name for name, info in model.model_fields.items()] if model else []


def _annotation(annotation: Any, location: Location) -> Any:
    """The type at `location` below `annotation`; Any if it cannot be determined."""
    for part in location:
        annotation = next((found for each in _members(annotation) if (found := _below(each, part)) is not None), Any)
    return annotation


def _below(annotation: Any, part: str | int) -> Any:
    if _is_model(annotation):
        named = (info for name, info in annotation.model_fields.items() if part in (name, info.alias))
        return next((info.annotation for info in named), None)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is dict:
        return arguments[1]
    return arguments[0] if origin is list else None


def _members(annotation: Any) -> list[Any]:
    if typing.get_origin(annotation) is typing.Annotated:
        return _members(typing.get_args(annotation)[0])
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        return [each for member in typing.get_args(annotation) for each in _members(member)]
    return [annotation]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


_SINGULAR = {str: "a string", int: "a whole number", float: "a number", bool: "true or false"}
_PLURAL = {str: "strings", int: "whole numbers", float: "numbers", list: "lists", dict: "mappings"}


def describe(annotation: Any) -> str:
    """A type in words for authors of YAML: `list[str]` is "a list of strings"."""
    members = [each for each in _members(annotation) if each is not type(None)]
    if len(members) > 1:
        return " or ".join(dict.fromkeys(describe(each) for each in members))
    only = members[0]
    origin, arguments = typing.get_origin(only), typing.get_args(only)
    if origin is list:
        inner = _members(arguments[0])[0]
        plural = _PLURAL.get(typing.get_origin(inner) or inner, "mappings")
        return f"a list of {plural}{' of strings' if typing.get_args(inner) == (str,) else ''}"
    if origin is typing.Literal:
        return " or ".join(repr(each) for each in arguments)
    if origin is dict or _is_model(only):
        return "a mapping"
    return _SINGULAR.get(only, "a value")


def _found(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case str():
            return f"the string {_cut(repr(value))}"
        case int() | float():
            return f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "a mapping"
    return f"a {type(value).__name__}"
