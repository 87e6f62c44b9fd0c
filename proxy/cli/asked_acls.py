"""The cluster that `doorkeeper acls import` asks: at given addresses, or one of a configuration.

Rules:
* If no broker gives its ACLs, each has a line, which begins with the option or the place where its address stands.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping

import click

from proxy.cli.bootstrap import bootstrap_of
from proxy.cli.ending import give_up
from proxy.config import Config, examine
from proxy.core.topology import Endpoint
from proxy.text.problems import Finding, Problem
from proxy.text.words import nearest
from rules.bindings import Binding


def asked_acls(bootstrap: str | None, file: str | None, cluster: str | None) -> list[Binding]:
    """All ACLs of the cluster at these addresses, or of the cluster of this name in a configuration.

    Ends the command if there is no such cluster, or if it gives none.
    """
    from proxy.cli.live_acls import LiveError, live, live_cluster  # the network takes 0.2 s to load

    if bootstrap is not None:
        try:
            return live(bootstrap_of(bootstrap))
        except LiveError as error:
            give_up("\n".join(f"--bootstrap: {reason}" for reason in error.reasons))
    assert file is not None
    config = _config(file)
    name = _cluster(config, file, cluster)
    try:
        return live_cluster(config, name)
    except LiveError as error:
        why = {reason.endpoint: str(reason) for reason in error.reasons}
        give_up("\n".join(map(str, _placed(file, name, why))))


def _placed(file: str, cluster: str, why: Mapping[Endpoint, str]) -> Iterator[Problem]:
    """Why brokers of a cluster give no ACLs, each at its place in the configuration."""

    def found(config: Config) -> Iterator[Finding]:
        for index, broker in enumerate(config.clusters[cluster].bootstrap):
            if Endpoint(*broker) in why:
                yield Finding(("clusters", cluster, "bootstrap", index), why[Endpoint(*broker)])

    return (problem for problem in examine(file, found)[1] if not problem.warning)


def _config(file: str) -> Config:
    if not file:
        raise click.UsageError("--config is empty; name a configuration")
    config, problems = examine(file)
    for problem in problems:
        click.echo(problem, err=True)
    if config is None:
        sys.exit(1)
    return config


def _cluster(config: Config, file: str, name: str | None) -> str:
    if name is None:
        if len(config.clusters) > 1:
            raise click.UsageError(f"{file} has several clusters; give --cluster: {', '.join(config.clusters)}")
        return next(iter(config.clusters))
    if name not in config.clusters:
        raise click.UsageError(f'{file} has no cluster "{name}"; {nearest(name, config.clusters)}')
    return name
