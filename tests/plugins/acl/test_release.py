"""Notes on a request are freed with its response, and those on a client with its connection: no reference cycles."""

from __future__ import annotations

import gc
import random
from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import pytest

from plugins.acl.checked_request import CheckedRequest
from plugins.acl.client_authorizer import ClientAuthorizer
from plugins.acl.client_rights import ClientRights
from proxy.core.context import Connection, Context
from proxy.core.link import Link
from proxy.protocol.api import APIS, Api
from proxy.protocol.errors import ErrorCode
from proxy.protocol.problem import ProtocolError
from proxy.protocol.refuse import refuse
from proxy.protocol.schema import Message, Request, Response
from tests.plugins.acl.talk import Rules, Talk
from tests.proxy.protocol.generate import make

RULES = {
    "nothing": "acls: []\n",
    "all": "acls:\n  - {allow: User:alice, to: All, topics: '*', groups: '*', transactional_ids: '*', cluster: true}\n",
}
FINE = ErrorCode(0)


def living() -> Counter[str]:
    """How many there are of what belongs to requests and to connections."""
    kinds = (CheckedRequest, Connection, Context, Link, Message, ClientAuthorizer, ClientRights)
    return Counter(type(each).__name__ for each in gc.get_objects() if isinstance(each, kinds))


def broker(request: Request, version: int) -> Response | None:
    return refuse(request.api, version, request, FINE)


@pytest.mark.parametrize("allowed", RULES)
@pytest.mark.parametrize("api", [api for api in APIS.values() if not api.inter_broker], ids=str)
def test_nothing_is_left_of_a_request(
    allowed: str, api: Api, rules: Callable[[str], Rules], no_collector: None
) -> None:
    own, dice = rules(RULES[allowed]), random.Random(api.key)
    before = living()
    talk = Talk(own.acl, broker=broker)
    for version in api.versions:
        if talk.link.closed:
            talk.link.release()
            talk = Talk(own.acl, broker=broker)
        with suppress(ProtocolError):  # what this makes may be what nobody can write
            talk.ask(make(api.request, version, dice), version)
    talk.link.release()
    del talk
    assert living() - before == Counter()
