"""The differences between two configurations, and those that a running proxy cannot apply."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from proxy.config import Config
from proxy.config.changes import changes, fixed

LISTENER = {"cluster": "main", "bind": "127.0.0.1:9192"}
SASL = {"mechanism": "PLAIN", "username": "proxy", "password": "s3cret"}


def config(**more: Any) -> Config:
    whole = {"clusters": {"main": {"bootstrap": ["kafka:9092"]}}, "listeners": {"clients": LISTENER}}
    return Config.model_validate(whole | more, context={"folder": Path("/etc")})


def acl(rules: str, **more: Any) -> dict[str, Any]:
    return {"acl": {"rules": rules, **more}}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ({}, {}, []),
        ({}, {"limits": {"idle": "5m", "frame": "1MiB"}}, ["limits.frame", "limits.idle"]),
        ({}, {"listeners": {"clients": LISTENER | {"advertise": "kafka"}}}, ["listeners.clients.advertise"]),
        ({}, {"listeners": {"others": LISTENER}}, ["listeners.clients removed", "listeners.others added"]),
        ({}, {"clusters": {"main": {"bootstrap": ["kafka:9092"], "sasl": SASL}}}, ["clusters.main.sasl"]),
        (
            {"clusters": {"main": {"bootstrap": ["kafka:9092"], "sasl": SASL}}},
            {"clusters": {"main": {"bootstrap": ["kafka:9092"], "sasl": SASL | {"password": "0ther"}}}},
            ["clusters.main.sasl.password"],
        ),
        ({}, {"plugins": [acl("a.yaml")]}, ["plugins.acl added"]),
        (
            {"plugins": [acl("a.yaml")]},
            {"plugins": [acl("b.yaml", shadow=True)]},
            ["plugins.acl.rules", "plugins.acl.shadow"],
        ),
        ({"plugins": [acl("a.yaml"), acl("b.yaml")]}, {"plugins": [acl("a.yaml")]}, ["plugins.acl-2 removed"]),
        (
            {"plugins": ["faults", acl("a.yaml")]},
            {"plugins": [acl("a.yaml"), "faults"], "limits": {"idle": "5m"}},
            ["limits.idle", "the order of plugins"],
        ),
    ],
)
def test_what_is_different_is_said_by_its_path(before: dict[str, Any], after: dict[str, Any], said: list[str]) -> None:
    assert changes(config(**before), config(**after)) == said


@pytest.mark.parametrize("bind", ["127.0.0.1:9190", "localhost:9190", "[::1]:9190"])
def test_what_is_to_be_written_as_before_can_be_written_so(bind: str) -> None:
    running = config(admin={"bind": bind})
    ((_, message, _),) = fixed(running, config())
    written = re.search('write "(.*)" as before', message)
    assert written is not None
    assert not list(fixed(running, config(**yaml.safe_load(written[1]))))


def test_the_number_of_workers_and_the_admin_side_are_fixed() -> None:
    running = config(workers=2, admin={"bind": "127.0.0.1:9190"})
    assert not list(fixed(running, config(workers=2, admin={"bind": "127.0.0.1:9190"}, limits={"idle": "5m"})))
    found = list(fixed(running, config(workers=3)))
    assert [(one.path, one.message) for one in found] == [
        (
            ("workers",),
            'workers cannot change while the proxy runs; write "workers: 2" as before, or restart the proxy',
        ),
        (
            ("admin",),
            "admin cannot change while the proxy runs;"
            ' write "admin: {bind: 127.0.0.1:9190}" as before, or restart the proxy',
        ),
    ]
    with_token = config(admin={"bind": "127.0.0.1:9190", "token": "0123456789abcdef"})
    (token,) = fixed(with_token, config(admin={"bind": "127.0.0.1:9190", "token": "another-token-of-16"}))
    assert token.message.endswith('write "admin" as before, or restart the proxy')
    (added,) = fixed(config(), config(admin={"bind": "127.0.0.1:9190"}))
    assert added.message.endswith("leave it out, or restart the proxy")
