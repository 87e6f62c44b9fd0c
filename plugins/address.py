"""Address: clients are given the proxy's addresses instead of the brokers'.

Rules:
* The schema says which structs hold the address of a broker. In each of them, in any API, the address is replaced.
* The topology learns a new broker before the client gets its address.
* A value that is no address stays: an empty host with port -1 ("none"), or with port 0 (in answers with an error, where
  brokers leave fields at their defaults). Any other value that cannot be a broker's (its id, host or port) is replaced
  by nobody's address: whatever an answer says, a client is never given a real one.
* In an answer that gives two addresses for a broker, the first counts. An answer that names too many brokers is
  withheld.
* The quorum's listeners (DescribeQuorum) are not the brokers' own: they are hidden behind the node's advertised
  address. An AddRaftVoter that names the address shown is changed back to the real one.
* Configurations of brokers that spell addresses out are rewritten as text: see `config_values.py`. The broker's name is
  read as brokers read it. Where it is no node id, clients are shown nobody's address.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from plugins.config_values import BROKER, advertise_in
from proxy.plugin import (
    AddRaftVoterRequest,
    Context,
    Decision,
    DescribeConfigsResponse,
    DescribeQuorumResponse,
    Disconnect,
    Endpoint,
    Forward,
    Meaning,
    Plugin,
    Response,
    Services,
    Struct,
    Topology,
    carrying,
    on_request,
    on_response,
    read_node_id,
    structs_with,
    turns,
    unusable,
)

MOST = 1_000  # of the quorum's listeners that are remembered
LONGEST = 255  # characters of a listener's name
ENDLESS = 10_000  # brokers in one answer


class Address(Plugin):
    """Advertise the proxy's addresses instead of the brokers'."""

    def __init__(self, options: Plugin.Options, services: Services) -> None:
        super().__init__(options, services)
        self._quorum: dict[tuple[int, str], Endpoint] = {}  # the real address, by node id and listener

    @on_response(carrying(Meaning.HOST))
    def endpoints(self, ctx: Context, response: Response) -> Decision:
        """Replace every broker's address in a response."""
        if isinstance(response, DescribeQuorumResponse):
            return self._hide_quorum(ctx.topology, response)
        changed, topology, moves = 0, ctx.topology, not ctx.connection.reached_by.is_former
        told: dict[int, Endpoint] = {}
        for struct in turns(structs_with(response, Meaning.HOST)):
            changed += replace(topology, struct, told, moves=moves)
            if len(told) > ENDLESS:
                return Disconnect(f"the broker names more than {ENDLESS:,} brokers in one answer")
        return Forward(response, repeats=moves) if changed else None

    def _hide_quorum(self, topology: Topology, response: DescribeQuorumResponse) -> Decision:
        for node in turns(response.nodes):
            shown = topology.place(node.node_id)
            for listener in turns(node.listeners):
                if unusable(node.node_id, listener.host, listener.port) is None:
                    self._quorum[node.node_id, listener.name[:LONGEST]] = Endpoint(listener.host, listener.port)
                listener.host, listener.port = shown
        for oldest in list(self._quorum)[:-MOST]:
            del self._quorum[oldest]
        return Forward(response) if response.nodes else None

    @on_request(AddRaftVoterRequest)
    def voter(self, ctx: Context, request: AddRaftVoterRequest) -> Decision:
        """Change the address that DescribeQuorum showed back to the real one."""
        shown = ctx.topology.place(request.voter_id)
        for listener in request.listeners:
            real = self._quorum.get((request.voter_id, listener.name[:LONGEST]))
            if real is not None and (listener.host, listener.port) == shown:
                listener.host, listener.port = real
        return Forward(request)

    @on_response(DescribeConfigsResponse, fields="results")
    def configs(self, ctx: Context, response: DescribeConfigsResponse) -> Decision:
        """Replace the addresses that brokers' configurations spell out."""
        changed = False
        for result in turns(response.results):
            if result.resource_type == BROKER:
                shown = ctx.topology.place(read_node_id(result.resource_name))
                for config in turns(result.configs):
                    changed |= advertise_in(config, shown, ctx.topology)
        return Forward(response) if changed else None


class AddressFields(NamedTuple):
    """The names of the fields of a struct that say where a broker listens."""

    node_id: str
    host: str
    port: str


@cache
def address_fields(cls: type[Struct]) -> AddressFields:
    """The fields of this struct that make up an address."""
    names = {field.meaning: field.name for field in reversed(cls.fields) if not field.is_array}
    return AddressFields(*(names[meaning] for meaning in (Meaning.BROKER_ID, Meaning.HOST, Meaning.PORT)))


def replace(topology: Topology, struct: Any, told: dict[int, Endpoint], *, moves: bool) -> bool:
    """Replace one broker's address by the advertised one. False: it has none.

    `told`: those of this answer so far. `moves`: the broker may be elsewhere than it was.
    """
    cls: type[Struct] = type(struct)
    names = address_fields(cls)
    node_id, host, port = getattr(struct, names.node_id), getattr(struct, names.host), getattr(struct, names.port)
    if not host and port <= 0:
        return False
    advertised = told.get(node_id)
    if advertised is None:
        advertised = told[node_id] = topology.learn(node_id, host, port, moves=moves)
    setattr(struct, names.host, advertised.host)
    setattr(struct, names.port, advertised.port)
    return True
