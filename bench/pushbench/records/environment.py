"""What a run measured, with which software, and on which machine."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from pushbench.foundation.model import Document

METHOD = 2
"""The number of the metrics' definitions, kept in each record's environment; docs/method.md says what 1 was."""
Slug = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
"""what may be part of a file's path, even in a record from elsewhere"""


class Commit(Document):
    """The source that the run measured."""

    sha: str
    ref: str
    subject: str
    author_time: str = Field(description="author time of the commit, ISO 8601 with offset")
    dirty: bool = Field(description="whether the work tree had changes that the commit does not contain")


class Harness(Document):
    """The versions of the measuring software."""

    pushbench: str
    k6: str
    extension: str
    go: str


class Environment(Document):
    """The machine, kernel, engine and driver of a run, or the server's node with the driver kubernetes. Records with
    different keys must never be compared.
    """

    key: Slug = Field(description="short digest of the other fields, without the host name")
    cpu_model: str
    cpus: int = Field(description="number of logical CPUs that the run could use")
    physical_cores: int | None = Field(
        description="number of physical cores; null for the driver kubernetes, whose nodes do not report it"
    )
    memory_bytes: int
    kernel: str = Field(description="release of the kernel, shortened to what can change results, such as 6.18")
    engine: str | None = Field(description="container engine and its version; null for a driver without one")
    driver: Literal["process", "docker", "kubernetes", "remote"] = Field(
        description="remote: the servers run elsewhere, so Pushbench neither started nor metered them"
    )
    workers: int | None = Field(
        default=None, description="WORKERS of the servers; null for the default, one worker per CPU"
    )
    generators: int | None = Field(
        default=None,
        description="number of k6 processes that share the clients; null for one process; not recorded by method 1",
    )
    services: dict[str, str] | None = Field(
        default=None,
        description="product and version of each service whose version affects results, such as MariaDB 10.11.19; "
        "null for none",
    )
    machine: Slug | None = Field(
        default=None,
        description="name of a machine that differs from the others of its run; null for any other machine",
    )
    awake: Literal[True] | None = Field(
        default=None, description="true if idle CPUs polled for work instead of halting; null if they could halt"
    )
    server_cpus: list[int] = Field(description="CPUs of the server; empty for a server that runs elsewhere")
    generator_cpus: list[int]
    method: int | None = Field(default=None, description="number of the metrics' definitions; null means 1")

    @property
    def remote(self) -> bool:
        return self.driver == "remote"

    @property
    def generator_cores(self) -> int:
        """The CPUs of all generators. In a cluster, where `generator_cpus` names none, each has one."""
        return len(self.generator_cpus) or self.generators or 1

    @property
    def method_number(self) -> int:
        """The method; 1 for records from before it was kept."""
        return self.method or 1
