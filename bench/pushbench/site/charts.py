"""Writes the pictures of each server's newest combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pushbench.judging.thresholds import Thresholds
from pushbench.reporting.looks import looks
from pushbench.site import embedded
from pushbench.site.combining import Combination
from pushbench.site.context import Context, load_of, title_of
from pushbench.site.embedded import Setting
from pushbench.site.layout import Data, Folder, part
from pushbench.site.series import ranking_stage, stages


def write_charts(
    folder: Folder,
    known: Context,
    thresholds: Thresholds,
    combinations: Sequence[Combination],
    *,
    environments: Mapping[str, Data],
    searched: Sequence[Data],
) -> dict[str, list[str]]:
    """The names of each server's pictures. Like badges, they show the first combination of each suite: the one with the
    newest runs other than tests. `searched` are the series of capacities.
    """
    first: dict[str, Combination] = {}
    for each in combinations:
        first.setdefault(each.suite, each)
    runs: dict[str, Data | None] = {}
    written: dict[str, list[str]] = {}
    for combination in first.values():
        stage = ranking_stage(stages(combination.runs))
        if stage is None:
            continue
        setting = Setting(
            combination=combination,
            title=title_of(known, combination.suite),
            stage=stage,
            machine=_machine(environments.get(combination.environment), combination.environment),
            looks=looks(known.looks, combination.runs.servers),
            thresholds=thresholds,
            rate=load_of(known, combination.suite),
            carried=_carried(folder, combination, searched),
        )
        for server in combination.runs.servers:
            last = combination.runs.heads[combination.runs.having(server)[-1]].record
            if last not in runs:
                runs[last] = folder.content(f"runs/{part(last)}")
            for name, picture in embedded.of_server(setting, server, runs[last]):
                folder.write(embedded.file_of(server, name), picture.encode())
                written.setdefault(server, []).append(name)
    return written


def _carried(folder: Folder, combination: Combination, searched: Sequence[Data]) -> Mapping[str, Data]:
    """The capacities of servers under exactly the load of these runs."""
    for each in searched:
        own = {name: value for name, value in combination.parameters.items() if name != each["searched"]}
        same = (each["environment"], each["suite"]) == (combination.environment, combination.suite)
        if same and own == each["parameters"]:
            found = folder.content(each["id"])
            return found["servers"] if found else {}
    return {}


def _machine(environment: Data | None, key: str) -> str:
    """The name of the machine, or the key if no record describes it."""
    if environment is None:
        return key
    model = str(environment["cpu_model"]).replace("(R)", "").replace("(TM)", "")
    cores = environment["physical_cores"]
    apart = f", apart on {environment['machine']}" if environment.get("machine") else ""
    return (f"{model}, {cores} cores" if cores else f"{model}, {environment['cpus']} CPUs") + apart
