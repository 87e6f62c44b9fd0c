"""Address: no response of any API contains a broker's real address."""

import random

import pytest

from plugins.address import ENDLESS, Address
from proxy.core.decisions import Disconnect
from proxy.core.filters import Filters
from proxy.core.topology import Endpoint
from proxy.protocol import messages  # noqa: F401  # makes every message known
from proxy.protocol.api import ADD_RAFT_VOTER, APIS, DESCRIBE_QUORUM, METADATA
from proxy.protocol.codec import decode, encode
from proxy.protocol.messages.add_raft_voter import AddRaftVoterRequest
from proxy.protocol.messages.describe_quorum import DescribeQuorumResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.problem import ProtocolError
from proxy.protocol.schema import structs
from proxy.protocol.wire import Meaning
from proxy.testing import build
from tests.plugins.shown import context, rewritten
from tests.proxy.protocol.generate import make, structs_of

REWRITTEN = [api for api in APIS.values() if not api.inter_broker]


def test_whatever_looks_like_an_address_is_declared_as_one_or_known_not_to_be():
    undeclared = set()
    for api in REWRITTEN:
        for struct in structs(api.response):
            for field in struct.fields:
                looks = "host" in field.name or field.name.endswith("port")
                if looks and field.meaning not in {Meaning.HOST, Meaning.PORT, Meaning.CLIENT_HOST}:
                    undeclared.add(struct.__qualname__)
    assert undeclared == {
        "DeleteAclsResponse.FilterResult.MatchingAcl",  # the hosts that an ACL is about
        "DescribeAclsResponse.Resource.Acl",
        "Endpoint",  # the instances of a Streams application tell each other where they listen (KIP-1071)
    }


@pytest.mark.parametrize("api", REWRITTEN, ids=repr)
def test_no_api_tells_where_a_broker_is(api):
    dice = random.Random(api.key)
    for version in api.versions:
        for _ in range(5):
            response = make(api.response, version, dice)
            hidden = 0
            for struct in structs_of(response):
                for field in struct.fields:
                    if field.meaning is Meaning.HOST and field.present(version):
                        setattr(struct, field.name, "inside")
                        hidden += 1
                    if field.meaning is Meaning.PORT and field.present(version):
                        setattr(struct, field.name, 9092)
                    if field.meaning is Meaning.BROKER_ID and not field.is_array:
                        setattr(struct, field.name, dice.randint(0, 99))
            seen, _ = rewritten(response, version)
            hosts = [
                getattr(struct, field.name)
                for struct in structs_of(seen)
                for field in struct.fields
                if field.meaning is Meaning.HOST and struct.has(field.name)
            ]
            assert b"inside" not in encode(seen, version)
            assert hosts == ["outside"] * hidden, (api, version)


def test_each_broker_has_its_own_advertised_address_and_becomes_known():
    brokers = [MetadataResponse.Broker(node_id=n, host="inside", port=9092 + n) for n in (0, 7)]
    seen, topology = rewritten(MetadataResponse(brokers=brokers, topics=[]), 12)
    assert [(broker.host, broker.port) for broker in seen.brokers] == [("outside", 9193), ("outside", 9200)]
    assert topology.brokers[7].real == Endpoint("inside", 9099)


@pytest.mark.parametrize("is_former", [False, True])
def test_an_answer_on_a_former_connection_moves_no_broker_and_is_repeated_to_nobody(is_former):
    ctx = context(METADATA, 12)
    ctx.topology.learn(0, "inside", 9092)
    ctx.connection.reached_by.is_former = is_former
    moved = MetadataResponse.Broker(node_id=0, host="elsewhere", port=9092)
    decision = build(Address).endpoints(ctx, MetadataResponse(brokers=[moved], topics=[]))
    assert (moved.host, moved.port) == ("outside", 9193)
    assert ctx.topology.brokers[0].real == Endpoint("inside" if is_former else "elsewhere", 9092)
    assert decision.repeats is not is_former


@pytest.mark.parametrize("number", [-1, 0], ids=["none", "default"])
@pytest.mark.parametrize("version", range(7))
def test_what_is_no_address_stays(version, number):
    none = {"node_id": number, "host": "", "port": number, "error_code": 15}
    response = (
        FindCoordinatorResponse(**none)
        if version < 4
        else FindCoordinatorResponse(
            coordinators=[FindCoordinatorResponse.Coordinator(key="g", error_message=None, **none)]
        )
    )
    seen, topology = rewritten(response, version)
    assert seen == decode(FindCoordinatorResponse, version, encode(response, version))
    assert topology.brokers == {}


def test_a_metadata_response_of_ten_thousand_partitions_is_not_decoded():
    interest = Filters([build(Address)]).table[METADATA.key << 16 | 12].response
    assert interest is not None
    assert interest.names == {"brokers"}


def test_a_voter_that_is_added_as_it_was_shown_gets_its_real_address_back():
    address = build(Address)
    listener = DescribeQuorumResponse.Node.Listener(name="CONTROLLER", host="inside", port=9093)
    node = DescribeQuorumResponse.Node(node_id=3, listeners=[listener])
    shown = DescribeQuorumResponse(error_code=0, topics=[], nodes=[node])
    ctx = context(DESCRIBE_QUORUM, 2)
    address.endpoints(ctx, shown)
    assert (listener.host, listener.port) == ("outside", 9196)
    back = [AddRaftVoterRequest.Listener(name="CONTROLLER", host="outside", port=9196)]
    other = [AddRaftVoterRequest.Listener(name="CONTROLLER", host="elsewhere", port=1)]
    for listeners, expected in ((back, ("inside", 9093)), (other, ("elsewhere", 1))):
        request = AddRaftVoterRequest(
            cluster_id=None, timeout_ms=1, voter_id=3, voter_directory_id=bytes(16), listeners=listeners
        )
        address.voter(context(ADD_RAFT_VOTER, 0), request)
        assert [(listener.host, listener.port) for listener in request.listeners] == [expected]


@pytest.mark.parametrize(
    ("node_id", "host", "port"),
    [(-1, "inside", 9092), (-7, "inside", -1), (-1, "", 9092), (1, "", 9092), (1, "inside..", 9092), (1, "inside", -1)],
)
@pytest.mark.parametrize("version", range(7))
def test_an_address_of_what_cannot_be_a_broker_is_never_told(version, node_id, host, port):
    odd = {"node_id": node_id, "host": host, "port": port, "error_code": 0}
    if version < 4:
        seen, topology = rewritten(FindCoordinatorResponse(**odd), version)
    else:
        one = FindCoordinatorResponse.Coordinator(key="g", error_message=None, **odd)
        whole, topology = rewritten(FindCoordinatorResponse(coordinators=[one]), version)
        (seen,) = whole.coordinators
    assert (seen.node_id, seen.host, seen.port) == (node_id, "outside", 0)
    assert topology.brokers == {}


@pytest.mark.parametrize("version", range(14))
def test_metadata_that_breaks_off_among_its_brokers_is_not_read(version):
    """Who reads it raises, and the connection ends: see `Responses`."""
    brokers = [MetadataResponse.Broker(node_id=n, host="inside", port=9092 + n) for n in range(3)]
    body = encode(MetadataResponse(brokers=brokers, topics=[]), version)
    response = Filters([build(Address)]).table[METADATA.key << 16 | version].response
    last = body.rindex(b"inside")
    for end in range(last + 6):
        with pytest.raises(ProtocolError):
            response.read(body[:end])


def test_brokers_without_end_are_withheld():
    brokers = [MetadataResponse.Broker(node_id=n, host="inside", port=9092) for n in range(ENDLESS + 1)]
    decision = build(Address).endpoints(context(METADATA, 12), MetadataResponse(brokers=brokers, topics=[]))
    assert isinstance(decision, Disconnect)
    assert "in one answer" in decision.reason
