"""MySQL 8.4's authentication in front of a MariaDB: TLS, and `caching_sha2_password`.

MariaDB has neither by default, so a test with MariaDB alone proves nothing about MySQL. After the authentication,
MariaDB answers. The packets are those of the connection phase:
https://dev.mysql.com/doc/dev/mysql-server/latest/page_protocol_connection_phase.html
https://dev.mysql.com/doc/dev/mysql-server/latest/page_caching_sha2_authentication_exchanges.html
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets
import select
import socket
import ssl
import struct
import subprocess
import threading
from collections import Counter
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

PLUGIN, OLD_PLUGIN = b"caching_sha2_password", b"mysql_native_password"
NO_MARIADB, WITH_DATABASE, COMPRESS, SSL, SECURE = 1, 1 << 3, 1 << 5, 1 << 11, 1 << 15
WITH_PLUGIN, ATTRIBUTES, LONG_RESPONSE, ZSTD = 1 << 19, 1 << 20, 1 << 21, 1 << 26
PROTOCOL, VERSION = b"\x0a", b"8.0.2"
"""The last MySQL whose variables MariaDB has: drivers read `transaction_isolation` from later ones. With MariaDB's own
5.5.5, they use an older protocol."""
OK, MORE, FULL, FAST, ASKS_KEY, SWITCH, ERROR = b"\0", b"\1", b"\4", b"\3", b"\2", b"\xfe", b"\xff"
DENIED = ERROR + struct.pack("<H", 1045) + b"#28000Access denied"


class Packets:
    """A connection as packets: three bytes of length, one byte with an increasing number, and the content."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.number = 0

    def close(self) -> None:
        self.connection.close()

    def receive(self) -> bytes:
        size = int.from_bytes(self._exactly(3), "little")
        self.number = self._exactly(1)[0] + 1
        return self._exactly(size)

    def send(self, content: bytes) -> None:
        self.connection.sendall(len(content).to_bytes(3, "little") + bytes([self.number]) + content)
        self.number += 1

    def _exactly(self, size: int) -> bytes:
        found = b""
        while len(found) < size:
            # Not a byte more: the bytes after a request for TLS belong to TLS.
            piece = self.connection.recv(size - len(found))
            if not piece:
                raise ConnectionError("the other side has closed")
            found += piece
        return found


class Front:
    """Listens within a `with` block. `entered` counts logins by kind: `full` or `fast`, with `tls` or a `key`."""

    def __init__(self, database_url: str, folder: Path, *, tls: bool = True) -> None:
        """Put a key and a self-signed certificate into `folder`, as MySQL does at its first start."""
        self.database = urlsplit(database_url)
        self.entered: Counter[str] = Counter()
        self._known = False
        self._key = folder / "key.pem"
        certificate = folder / "certificate.pem"
        ask = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=MySQL", "-days", "1"]
        run([*ask, "-keyout", str(self._key), "-out", str(certificate)])
        self._tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH) if tls else None
        if self._tls:
            self._tls.load_cert_chain(certificate, self._key)
        self._listener = socket.create_server(("127.0.0.1", 0))
        port = self._listener.getsockname()[1]
        self.url = database_url.replace(f":{self.database.port}/", f":{port}/")

    def __enter__(self) -> Self:
        threading.Thread(target=self._listen, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _listen(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=[connection], daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        behind = socket.create_connection(("127.0.0.1", self.database.port or 0))
        with contextlib.suppress(OSError, ssl.SSLError), behind, contextlib.closing(Packets(connection)) as packets:
            greeting = Greeting(Packets(behind).receive())
            client = self._let_in(packets, greeting)
            if client and self._log_in(behind, greeting, client.flags):
                packets.send(OK + b"\0\0\2\0\0\0")
                relay(packets.connection, behind)

    def _let_in(self, packets: Packets, greeting: Greeting) -> Client | None:
        nonce = secrets.token_hex(10).encode()  # ASCII like MySQL's: drivers read it as text
        flags = (greeting.flags | NO_MARIADB | WITH_PLUGIN | SECURE) & ~(COMPRESS | ZSTD | SSL)
        flags |= SSL if self._tls else 0
        packets.send(greeting.packet(flags, nonce))
        answer = packets.receive()
        if self._tls and int.from_bytes(answer[:4], "little") & SSL:
            packets.connection = self._tls.wrap_socket(packets.connection, server_side=True)
            answer = packets.receive()
        client = Client(packets, answer)
        if client.plugin != PLUGIN:
            packets.send(SWITCH + PLUGIN + b"\0" + nonce + b"\0")
            client.proof = packets.receive()
        kind = self._check(client, nonce)
        if kind is None:
            packets.send(DENIED)
            return None
        self.entered[kind] += 1
        return client

    def _check(self, client: Client, nonce: bytes) -> str | None:
        """How the client proved that it has the password; None if it did not."""
        password = (self.database.password or "").encode()
        if client.proof != xor(sha256(password), sha256(sha256(sha256(password)), nonce)):
            return None
        encrypted = isinstance(client.packets.connection, ssl.SSLSocket)
        way = "tls" if encrypted else "key"
        if self._known:
            client.packets.send(MORE + FAST)
            return f"fast {way}"
        client.packets.send(MORE + FULL)
        told = client.packets.receive()
        if not encrypted:
            if told != ASKS_KEY:
                return None
            client.packets.send(MORE + run(["openssl", "pkey", "-in", str(self._key), "-pubout"]))
            told = xor(self._decrypted(client.packets.receive()), nonce * 13)
        self._known = told == password + b"\0"
        return f"full {way}" if self._known else None

    def _decrypted(self, hidden: bytes) -> bytes:
        command = ["openssl", "pkeyutl", "-decrypt", "-inkey", str(self._key), "-pkeyopt"]
        try:
            return run([*command, "rsa_padding_mode:oaep"], hidden)
        except subprocess.CalledProcessError:
            return run([*command, "rsa_padding_mode:pkcs1"], hidden)  # Connector/J's for servers before 8.0.5

    def _log_in(self, behind: socket.socket, greeting: Greeting, flags: int) -> bool:
        user, password = ((text or "").encode() for text in (self.database.username, self.database.password))
        flags &= greeting.flags & ~(SSL | COMPRESS | ZSTD | ATTRIBUTES | LONG_RESPONSE)
        hashed = hashlib.sha1(password).digest()
        proof = xor(hashed, hashlib.sha1(greeting.nonce + hashlib.sha1(hashed).digest()).digest())
        packets = Packets(behind)
        packets.number = 1
        head = struct.pack("<IIB23x", flags | WITH_DATABASE | WITH_PLUGIN | SECURE, 1 << 24, 45)
        database = self.database.path[1:].encode()
        packets.send(head + b"\0".join([user, bytes([len(proof)]) + proof + database, OLD_PLUGIN, b""]))
        return packets.receive()[:1] == OK


class Greeting:
    """MariaDB's greeting; the client gets the parts that are not about authentication."""

    def __init__(self, content: bytes) -> None:
        _, rest = content.split(b"\0", 1)
        self._thread, first, low, self._middle, high = struct.unpack_from("<4s8sxH3sH", rest)
        self.flags = low | high << 16
        self.nonce = first + rest[31:43]

    def packet(self, flags: int, nonce: bytes) -> bytes:
        low, high = flags & 0xFFFF, flags >> 16
        head = struct.pack("<4s8sxH3sHB10x", self._thread, nonce[:8], low, self._middle, high, len(nonce) + 1)
        return PROTOCOL + VERSION + b"\0" + head + nonce[8:] + b"\0" + PLUGIN + b"\0"


class Client:
    """A client's answer to the greeting."""

    def __init__(self, packets: Packets, answer: bytes) -> None:
        self.packets = packets
        self.flags = int.from_bytes(answer[:4], "little")
        _, rest = answer[32:].split(b"\0", 1)
        size, rest = rest[0], rest[1:]
        self.proof, rest = rest[:size], rest[size:]
        if self.flags & WITH_DATABASE:
            _, rest = rest.split(b"\0", 1)
        self.plugin = rest.split(b"\0", 1)[0]


def relay(client: socket.socket, database: socket.socket) -> None:
    """Forward bytes in both directions until one side closes."""
    while True:
        # A TLS connection may have buffered more than the last read returned.
        waiting = isinstance(client, ssl.SSLSocket) and client.pending()
        ready = [client] if waiting else select.select([client, database], [], [])[0]
        for end in ready:
            piece = end.recv(1 << 16)
            if not piece:
                return
            (database if end is client else client).sendall(piece)


def sha256(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=False))


def run(command: list[str], given: bytes = b"") -> bytes:
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout
