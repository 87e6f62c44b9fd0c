"""Responses that pass through the plugin Address to a client."""

from plugins.address import Address
from proxy.core.context import Connection, Context
from proxy.core.decisions import Forward
from proxy.core.filters import Filters
from proxy.core.topology import Endpoint, Topology
from proxy.protocol.codec import decode, encode
from proxy.testing import build


def context(api, version):
    topology = Topology(lambda node_id: Endpoint("outside", 9193 + node_id))
    return Context(Connection(("127.0.0.1", 1), "clients", "main", topology), api, version, 1)


def rewritten(response, version):
    """The response that a client gets, and the topology that learned from the original."""
    ctx = context(response.api, version)
    body = encode(response, version)
    route = Filters([build(Address)]).table[response.api.key << 16 | version]
    if route.response is None:
        return response, ctx.topology
    message = route.response.read(body)
    for handler in route.response.handlers:
        decision = handler.call(ctx, message)
        if isinstance(decision, Forward):
            body = route.response.write(decision.message)
    return decode(type(response), version, body), ctx.topology
