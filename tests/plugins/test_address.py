"""Address: no response in any API tells a client where a broker really is."""

import random

import pytest

from plugins.address import Address
from proxy.core.context import Connection, Context
from proxy.core.decisions import Forward
from proxy.core.route import Routes
from proxy.core.topology import Endpoint, Topology
from proxy.protocol import messages  # noqa: F401  # makes every message known
from proxy.protocol.api import ADD_RAFT_VOTER, APIS, DESCRIBE_CONFIGS, DESCRIBE_QUORUM, METADATA
from proxy.protocol.codec import decode, encode
from proxy.protocol.messages.add_raft_voter import AddRaftVoterRequest
from proxy.protocol.messages.describe_configs import DescribeConfigsResponse
from proxy.protocol.messages.describe_quorum import DescribeQuorumResponse
from proxy.protocol.messages.find_coordinator import FindCoordinatorResponse
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.schema import structs
from proxy.protocol.wire import Meaning
from tests.proxy.protocol.generate import make, structs_of

REWRITTEN = [api for api in APIS.values() if not api.inter_broker]


def context(api, version):
    topology = Topology(lambda node_id: Endpoint("outside", 9193 + node_id))
    return Context(Connection(("127.0.0.1", 1), "clients", "main", topology), api, version, 1)


def rewritten(response, version):
    """What a client gets of a response, and the topology that learned from it."""
    ctx = context(response.api, version)
    body = encode(response, version)
    route = Routes([Address()]).table[response.api.key << 16 | version]
    if route.response is None:
        return response, ctx.topology
    message = route.response.read(body)
    for handler in route.response.handlers:
        decision = handler.call(ctx, message)
        if isinstance(decision, Forward):
            body = route.response.write(decision.message)
    return decode(type(response), version, body), ctx.topology


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
    assert topology.real("outside", 9200) == Endpoint("inside", 9099)


@pytest.mark.parametrize("version", range(7))
def test_what_is_no_address_stays(version):
    none = {"node_id": -1, "host": "", "port": -1, "error_code": 15}
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
    interest = Routes([Address()]).table[METADATA.key << 16 | 12].response
    assert interest is not None
    assert interest.names == {"brokers"}


def test_a_voter_that_is_added_as_it_was_shown_gets_its_real_address_back():
    address = Address()
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


def config(name, value):
    return DescribeConfigsResponse.Result.Config(name=name, value=value, read_only=True, is_sensitive=False)


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("advertised.listeners", "PLAINTEXT://inside:9092", "PLAINTEXT://outside:9195"),
        (
            "listeners",
            "PLAINTEXT://:9092,CONTROLLER://inside:9093",
            "PLAINTEXT://outside:9195,CONTROLLER://outside:9195",
        ),
        ("controller.quorum.voters", "1@inside:9093,2@inside2:9093", "1@outside:9194,2@outside:9195"),
        ("controller.quorum.bootstrap.servers", "inside:9093", "outside:9195"),
        ("advertised.host.name", "inside", "outside"),
        ("port", "9092", "9195"),
        ("zookeeper.connect", "inside:2181", None),
        ("log.dirs", "/inside", "/inside"),
    ],
)
def test_a_brokers_configuration_spells_out_what_clients_are_told(name, value, shown):
    described = config(name, value)
    described.synonyms = [DescribeConfigsResponse.Result.Config.Synonym(name=name, value=value, source=4)]
    result = DescribeConfigsResponse.Result(
        error_code=0, error_message=None, resource_type=4, resource_name="2", configs=[described]
    )
    seen, _ = rewritten(DescribeConfigsResponse(throttle_time_ms=0, results=[result]), 4)
    assert seen.results[0].configs[0].value == shown
    assert seen.results[0].configs[0].synonyms[0].value == shown


def test_a_topics_configuration_is_left_alone():
    result = DescribeConfigsResponse.Result(
        error_code=0, error_message=None, resource_type=2, resource_name="2", configs=[config("listeners", "x://y:1")]
    )
    response = DescribeConfigsResponse(throttle_time_ms=0, results=[result])
    assert Address().configs(context(DESCRIBE_CONFIGS, 4), response) is None
