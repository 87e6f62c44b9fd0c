"""ACLs that several proxies keep in one file: a change at one is in force at all."""

from __future__ import annotations

from pathlib import Path

import pytest
import trio

from proxy.config import Config
from proxy.core.topology import Endpoint
from proxy.protocol.errors import ErrorCode
from proxy.protocol.messages.create_acls import CreateAclsResponse
from proxy.protocol.messages.delete_acls import DeleteAclsResponse
from proxy.protocol.messages.describe_acls import DescribeAclsResponse
from proxy.protocol.schema import Request
from tests.plugins.acl.asked import create, creation, delete, describe
from tests.proxy.net.scripted import (
    LOOPBACK,
    PATIENCE,
    Broker,
    Client,
    configuration,
    connected,
    port_of,
    serving,
)

RULES = """\
# Nobody may anything but keep the ACLs, and read group h.
acls:
  - {allow: User:ANONYMOUS, to: Alter, cluster: true}
  - {allow: User:ANONYMOUS, to: Read, groups: h}
"""
REFUSED = ErrorCode.GROUP_AUTHORIZATION_FAILED
GROUP, READ = 3, 3


def managing(folder: Path, upstream: Endpoint) -> Config:
    return configuration(upstream, plugins=[{"acl": {"rules": str(folder / "acl.yaml"), "managed": True}}])


async def create_one(client: Client) -> None:
    new = create(creation(GROUP, "g", who="User:ANONYMOUS", to=READ))
    assert [result.error_code for result in (await client.ask(new, CreateAclsResponse, 3)).results] == [0]


async def delete_one(client: Client) -> None:
    (result,) = (await client.ask(delete({"kind": GROUP, "name": "g"}), DeleteAclsResponse, 3)).filter_results
    assert len(result.matching_acls) == 1


async def until(client: Client, error: int) -> None:
    """Ask until the answer is this; between two questions the proxies have their turn."""
    with trio.fail_after(PATIENCE):
        while await client.beat() != error:
            await trio.sleep(0)


async def test_what_is_told_to_one_proxy_holds_there_at_once_and_soon_at_the_other(
    broker: Broker, tmp_path: Path
) -> None:
    file = tmp_path / "acl.yaml"
    file.write_text(RULES)
    one, two = managing(tmp_path, broker.endpoint), managing(tmp_path, broker.endpoint)
    async with (
        serving(one),
        serving(two),
        connected(LOOPBACK, port_of(one, 1)) as here,
        connected(LOOPBACK, port_of(two, 1)) as there,
    ):
        assert [await here.beat(), await there.beat()] == [REFUSED, REFUSED]
        await create_one(here)
        assert await here.beat() == 0
        await until(there, 0)
        await delete_one(there)
        assert await there.beat() == REFUSED
        await until(here, REFUSED)
    assert file.read_text() == RULES


async def test_all_who_ask_at_once_get_what_they_asked_for(broker: Broker, tmp_path: Path) -> None:
    file = tmp_path / "acl.yaml"
    file.write_text(RULES)
    one, two = managing(tmp_path, broker.endpoint), managing(tmp_path, broker.endpoint)
    answered: list[int] = []

    async def ask(config: Config, number: int) -> None:
        async with connected(LOOPBACK, port_of(config, 1)) as client:
            for turn in range(3):
                request: Request = create(creation(name=f"topic-{number}-{turn}"))
                answer = await client.ask(request, CreateAclsResponse, 3)
                answered.extend(result.error_code for result in answer.results)

    async with serving(one), serving(two), trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(ask, (one, two)[number % 2], number)
    assert answered == [0] * 24
    text = file.read_text()
    assert text.startswith(RULES)
    assert all(f"topics: topic-{number}-{turn}\n" in text for number in range(8) for turn in range(3))


@pytest.mark.parametrize("shadow", [False, True])
async def test_whoever_may_not_change_acls_changes_none(broker: Broker, tmp_path: Path, shadow: bool) -> None:
    file = tmp_path / "acl.yaml"
    file.write_text("acls: [{allow: User:ANONYMOUS, to: Describe, cluster: true}]\n")
    options = {"rules": str(file), "managed": True, "shadow": shadow}
    config = configuration(broker.endpoint, plugins=[{"acl": options}])
    async with serving(config) as gateway, connected(LOOPBACK, port_of(config, 1)) as client:
        (result,) = (await client.ask(create(creation()), CreateAclsResponse, 3)).results
        assert result.error_code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED
        (count,) = gateway.report().plugins
        assert (count.attributes, count.value) == ({"api": "CreateAcls", "enforced": "yes"}, 1)
        described = await client.ask(describe(), DescribeAclsResponse, 3)
    assert [resource.resource_name for resource in described.resources] == ["kafka-cluster"]
    assert file.read_text().count("\n") == 1
