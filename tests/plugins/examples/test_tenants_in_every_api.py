"""The example that gives each tenant its own topics, with generated messages of every API."""

from __future__ import annotations

import random
from typing import Any

import pytest

from plugins.examples.tenant_topics import Renaming, TenantTopics, newest_offered
from proxy.plugin import APIS, PRODUCE, Api, Meaning
from proxy.protocol.codec import decode, encode
from proxy.testing import MessageExchange, build, connection
from tests.proxy.protocol.generate import make, structs_of

PREFIXES = {"acme": "acme.", "globex": "globex.", "admin": ""}


def named(struct: Any) -> list[str]:
    """The topics in a message."""
    names: list[str] = []
    for each in structs_of(struct):
        for field in each.fields:
            if field.meaning is Meaning.TOPIC_NAME and each.has(field.name):
                value = getattr(each, field.name)
                names += value if field.is_array and value is not None else [value]
    return [name for name in names if name is not None]


@pytest.mark.parametrize("api", [api for api in APIS.values() if not api.inter_broker], ids=str)
def test_what_is_not_offered_is_refused_if_it_comes_all_the_same(api: Api) -> None:
    for version in range(newest_offered(api) + 1, api.newest + 1):
        dice = random.Random(f"{api} {version}")
        request = make(api.request, version, dice)
        if api is PRODUCE:
            request.acks = 1
        client = connection()
        client.listener = "acme"
        answer = MessageExchange(build(TenantTopics, prefixes=PREFIXES), client=client).ask(request, version)
        assert isinstance(answer, api.response | str), f"v{version} reached the broker"


@pytest.mark.parametrize("api", [api for api in APIS.values() if not api.inter_broker], ids=str)
def test_every_name_in_every_message_is_renamed_and_back(api: Api) -> None:
    for version in range(newest_offered(api) + 1):
        for side in (api.request, api.response):
            message = make(side, version, random.Random(f"{api} {version}"))
            body, names = encode(message, version), named(message)
            Renaming(version, "acme.", inward=True).rename(message)
            assert named(message) == [f"acme.{name}" for name in names]
            there = decode(side, version, encode(message, version))
            assert Renaming(version, "globex.", inward=False).rename(decode(side, version, encode(there, version)))
            assert Renaming(version, "acme.", inward=False).rename(there)
            assert encode(there, version) == body


@pytest.mark.parametrize("api", [api for api in APIS.values() if not api.inter_broker], ids=str)
def test_nothing_is_told_of_topics_of_somebody_else(api: Api) -> None:
    for version in range(newest_offered(api) + 1):
        message = make(api.response, version, random.Random(f"{api} {version}"))
        Renaming(version, "globex.", inward=True).rename(message)
        Renaming(version, "acme.", inward=False).rename(message)
        assert named(message) == []
