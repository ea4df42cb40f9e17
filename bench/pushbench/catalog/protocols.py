"""Declared protocols: a `protocol.yml`, read and checked, in the form that the generator reads.

Mistakes in the file are reported here, with their line, before anything is started.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from pushbench.catalog.declaration import Declaration, Secret
from pushbench.catalog.protocol_file import ProtocolFile, Transport
from pushbench.catalog.protocol_reading import declaration_of
from pushbench.catalog.servers import Server
from pushbench.catalog.templates import dumps
from pushbench.foundation.errors import UserError
from pushbench.foundation.yamlfile import YamlFile, read_yaml


@dataclass(frozen=True)
class DeclaredProtocol:
    """The protocol of a file, and the file for errors that a conversation shows."""

    file: YamlFile
    declaration: Declaration

    @property
    def transport(self) -> Transport:
        request = self.declaration.request
        if request is None:
            return "websocket"
        return "sse" if request.stream else "http"

    @property
    def variables(self) -> list[str]:
        """The environment variables that the generator needs."""
        return sorted({secret.env or secret.file_env for secret in self.declaration.secrets.values()})

    def environment(self) -> dict[str, str]:
        """These variables and their values. Raises UserError if a secret is not available."""
        self.secrets()
        return {name: os.environ[name] for name in self.variables}

    def secrets(self) -> dict[str, str]:
        """The secrets by their names. Raises UserError if one is not available."""
        found = {}
        for name, secret in self.declaration.secrets.items():
            try:
                found[name] = _read(secret)
            except ValueError as problem:
                raise self.file.error(("secrets", name), str(problem)) from None
        return found

    def redact(self, text: str) -> str:
        """The text without secrets, in all forms that messages and addresses have, so that people may read it."""
        for name, secret in self.secrets().items():
            for form in (secret, dumps(secret)[1:-1], json.dumps(secret)[1:-1], quote(secret, safe="")):
                text = text.replace(form, f"{{secret:{name}}}")
        return text

    def error(self, at: str, what: str) -> UserError:
        """The error for a mistake at a dotted key, such as message.id."""
        return self.file.error(tuple(int(part) if part.isdecimal() else part for part in at.split(".") if part), what)


def read_protocol(path: Path, *, text: int | None = None) -> DeclaredProtocol:
    """Read a declared protocol. Raises UserError, with file and line, for whatever cannot work.

    If `text` is given, it replaces the file's number of characters in a message.
    """
    return protocol_in(read_yaml(path), text=text)


def protocol_in(file: YamlFile, *, text: int | None = None) -> DeclaredProtocol:
    """Like `read_protocol`, for a file that was read already."""
    return DeclaredProtocol(file, declaration_of(file, file.validate(ProtocolFile), text))


def declared_by(server: Server) -> DeclaredProtocol | None:
    """The protocol that a server declares; None for a protocol of its suite."""
    return read_protocol(server.protocol_file) if server.protocol_file else None


def _read(secret: Secret) -> str:
    """A secret. The ValueError explains why it cannot be used, without its value."""
    variable = secret.env or secret.file_env
    value = os.environ.get(variable, "")
    if not value:
        raise ValueError(f"the variable {variable} is not set")
    if secret.file_env:
        try:
            value = Path(value).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise ValueError(f"the file that {variable} names cannot be read") from None
        if not value:
            raise ValueError(f"the file that {variable} names is empty")
    if not value.isprintable():
        raise ValueError(f"the secret from {variable} is not one line of text")
    return value
