"""Servers on the JVM start from a class archive: identical for the same server, and never required."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from pushbench.building.toolchains import Missing, Toolchain, find
from pushbench.catalog.servers import Server, read_catalog
from pushbench.foundation.project import Project

CHECKOUT = Project.current()
JDK = find("java", ">=25")
SCRIPT = CHECKOUT.servers / "spring-websocket" / "class-archive.sh"
SOURCES = {
    "Part": 'public class Part { public static String word() { return "started"; } }',
    "Main": "public class Main { public static void main(String[] all) { System.out.println(Part.word()); } }",
}


def on_the_jvm() -> list[Server]:
    return [each for each in read_catalog(CHECKOUT.servers) if each.process.start[0] == "java"]


@pytest.mark.parametrize("server", on_the_jvm(), ids=lambda server: server.id)
def test_every_server_on_the_jvm_starts_from_its_archive_in_both_drivers(server: Server) -> None:
    started = ["-XX:SharedArchiveFile=target/server/server.jsa", "-jar", "target/server/server.jar"]
    assert server.process.start[-3:] == started
    assert ["sh", "class-archive.sh", "target/server"] in server.process.build
    dockerfile = (server.folder / server.spec.image.dockerfile).read_text()
    assert "sh class-archive.sh /server -XX:+UseSerialGC" in dockerfile
    assert '"-XX:SharedArchiveFile=server.jsa", "-jar", "/server/server.jar"' in dockerfile.splitlines()[-1]


def run(folder: Path, *command: str) -> str:
    assert isinstance(JDK, Toolchain)
    environment = {"PATH": f"{JDK.folder}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def unpacked(tmp_path: Path) -> Path:
    """A program of two jars, laid out as Spring Boot unpacks a server."""
    for name, text in SOURCES.items():
        (tmp_path / f"{name}.java").write_text(text)
    (tmp_path / "server" / "lib").mkdir(parents=True)
    (tmp_path / "manifest").write_text("Main-Class: Main\nClass-Path: lib/part.jar\n")
    run(tmp_path, "javac", "Part.java", "Main.java")
    run(tmp_path, "jar", "--create", "--file", "server/lib/part.jar", "Part.class")
    run(tmp_path, "jar", "--create", "--file", "server/server.jar", "--manifest", "manifest", "Main.class")
    return tmp_path / "server"


def start(folder: Path, *options: str) -> str:
    """The output of the program, started with the path that its archive was made with."""
    return run(folder.parent, "java", *options, "-XX:SharedArchiveFile=server/server.jsa", "-jar", "server/server.jar")


@pytest.mark.slow
@pytest.mark.skipif(isinstance(JDK, Missing), reason="needs a JDK 25")
def test_an_archive_is_the_same_when_it_is_made_again_and_is_taken(unpacked: Path, tmp_path: Path) -> None:
    again = shutil.copytree(unpacked, tmp_path / "again" / "server", copy_function=shutil.copyfile)
    for jar in again.rglob("*.jar"):
        os.utime(jar, (0, 0))
    for folder in (unpacked, again):
        run(folder.parent, "sh", str(SCRIPT), "server", "-XX:+UseSerialGC", "-Xmx256m")
    assert (unpacked / "server.jsa").read_bytes() == (again / "server.jsa").read_bytes()
    assert start(unpacked, "-Xshare:on") == "started\n"
    assert "Part source: shared objects file" in start(unpacked, "-Xlog:class+load")


@pytest.mark.slow
@pytest.mark.skipif(isinstance(JDK, Missing), reason="needs a JDK 25")
def test_a_server_whose_archive_is_refused_says_so_and_starts_without_it(unpacked: Path) -> None:
    run(unpacked.parent, "sh", str(SCRIPT), "server")
    (unpacked / "lib" / "part.jar").touch()
    *warnings, last = start(unpacked).splitlines()
    assert last == "started"
    assert any("lib/part.jar" in line and "timestamp has changed" in line for line in warnings)
