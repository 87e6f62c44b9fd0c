"""Checks of SASL: what belongs together, and whether the files that are named can be used."""

from __future__ import annotations

from collections.abc import Iterator

from proxy.auth import users
from proxy.config.model import Config
from proxy.config.sasl import BY_PASSWORD, ClusterSasl, ListenerSasl
from proxy.text.places import Path
from proxy.text.problems import BadFileError, Finding


def findings(config: Config) -> Iterator[Finding]:
    """Everything wrong between the options of SASL."""
    for name, cluster in config.clusters.items():
        if cluster.sasl is not None:
            yield from _cluster(("clusters", name, "sasl"), cluster.sasl)
    for name, listener in config.listeners.items():
        if listener.sasl is not None:
            yield from _listener(("listeners", name, "sasl"), listener.sasl)


def _listener(path: Path, sasl: ListenerSasl) -> Iterator[Finding]:
    twice = {name for name in sasl.mechanisms if sasl.mechanisms.count(name) > 1}
    for name in sorted(twice):
        yield Finding((*path, "mechanisms"), f"{name} stands here twice; keep one of the two")
    by_password = [name for name in sasl.mechanisms if name in BY_PASSWORD]
    if by_password and sasl.credentials is None:
        fact = f'{by_password[0]} needs "credentials"'
        yield Finding(path, f'{fact}; write "credentials: users.yaml", and run "doorkeeper users add users.yaml NAME"')
    if sasl.credentials is not None and not by_password:
        way_out = "leave them out, or add a mechanism: " + ", ".join(sorted(BY_PASSWORD))
        yield Finding((*path, "credentials"), f"no mechanism uses these credentials; {way_out}")
    if sasl.credentials is not None:
        yield from _credentials((*path, "credentials"), sasl.credentials)


def _cluster(path: Path, sasl: ClusterSasl) -> Iterator[Finding]:
    for one, other in (("username", "password"), ("password", "username")):
        if getattr(sasl, one) is not None and getattr(sasl, other) is None:
            yield Finding((*path, one), f'"{one}" needs "{other}"; write both')
    if sasl.username is None and sasl.password is None:
        yield Finding(path, f'{sasl.mechanism} needs "username" and "password"; discovery speaks with them')


def _credentials(path: Path, file: str) -> Iterator[Finding]:
    try:
        known = users.load(file)
    except BadFileError as error:
        for problem in error.problems:
            message = str(problem)
            if "no such file" in message:
                message = f'{file}: there is no such file; run "doorkeeper users add {file} NAME"'
            yield Finding(path, message)
    else:
        if not known:
            fact = f"{file} has no users: nobody can authenticate"
            yield Finding(path, f'{fact}; run "doorkeeper users add {file} NAME"', warning=True)
