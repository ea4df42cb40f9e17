"""The two arms of a comparison, ready to be measured: the same servers of two checkouts, built and verified."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from pushbench.building.baking import bake
from pushbench.building.builds import Note
from pushbench.building.images import images_of
from pushbench.catalog.servers import Server
from pushbench.drivers.choice import choose_driver
from pushbench.drivers.docker import DockerDriver
from pushbench.drivers.driver import Build, Driver
from pushbench.foundation.project import Project
from pushbench.measuring import preparation
from pushbench.measuring.common import Options
from pushbench.measuring.preparation import Prepared
from pushbench.measuring.sides import Side
from pushbench.records.record import Failure, OneSided

ArmName = Literal["base", "head"]


@dataclass(frozen=True)
class Arm:
    """One side; `prepared` holds the servers that both sides have, by id."""

    driver: Driver
    prepared: Mapping[str, Prepared]

    def changed(self, server: str, build: Build) -> Arm:
        """This arm with another build of one server."""
        other = replace(self.prepared[server], digest=build.digest, result=build)
        return replace(self, prepared={**self.prepared, server: other})


@dataclass(frozen=True)
class Arms:
    base: Arm
    head: Arm
    one_sided: Sequence[OneSided] = ()
    """servers that cannot be compared, and why"""

    def __getitem__(self, name: ArmName) -> Arm:
        return self.base if name == "base" else self.head

    @property
    def servers(self) -> list[str]:
        return list(self.head.prepared)

    @property
    def identical(self) -> list[str]:
        """Servers whose builds are the same on both sides."""
        return [name for name, each in self.head.prepared.items() if each.digest == self.base.prepared[name].digest]


def prepare_arms(
    head: Side, base: Side, built: Sequence[Prepared], driver: Driver, *, options: Options, note: Note
) -> Arms:
    """Prepare both arms. `built` are the head's servers by `driver`; the base gets a driver like it. A server that
    fails a step on either side is left out with the reason."""
    heads = _verified(head.project, built, driver, options, note)
    left_out = list(_failures("head", heads))
    known = {server.id: server for server in base.catalog()}
    ready = {each.server.id: each for each in heads if isinstance(each.result, Build)}
    for name in ready.keys() - known.keys():
        left_out.append(OneSided(server=name, reason="the base does not have it: there is nothing to compare with"))
    asked = [known[each.server.id] for each in heads if each.server.id in known]
    base_driver = _driver_like(driver, base.project, asked, options, note)
    if isinstance(base_driver, DockerDriver):
        _bake_missing(base_driver, asked, note)
    built = preparation.build_servers(base_driver, asked, note)
    bases = _verified(base.project, built, base_driver, options, note)
    left_out += _failures("base", bases)
    based = {each.server.id: each for each in bases if isinstance(each.result, Build)}
    both = {name: each for name, each in ready.items() if name in based}
    return Arms(Arm(base_driver, based), Arm(driver, both), left_out)


def _verified(
    project: Project, built: Sequence[Prepared], driver: Driver, options: Options, note: Note
) -> Sequence[Prepared]:
    return preparation.verify_all(project, built, driver, note) if options.verify else built


def _failures(arm: ArmName, prepared: Sequence[Prepared]) -> Iterator[OneSided]:
    for each in prepared:
        if isinstance(each.result, Failure):
            which = "the changed server" if arm == "head" else "the server of the base"
            reason = f"{which} does not work: {each.result.step}: {each.result.message}"
            yield OneSided(server=each.server.id, reason=reason, failed=arm)


def _bake_missing(driver: DockerDriver, servers: Sequence[Server], note: Note) -> None:
    """Build the images of the driver's checkout that the engine lacks: no other step builds those of another commit.
    Raises UserError when that fails."""
    images = images_of([server for server in servers if driver.lacks_image(server)])
    if images:
        bake(driver.project, images, note)


def _driver_like(driver: Driver, project: Project, asked: Sequence[Server], options: Options, note: Note) -> Driver:
    """The same driver for another checkout."""
    return choose_driver(project, asked, replace(options.driver, wanted=driver.name), note)
