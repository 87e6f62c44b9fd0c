"""Turns: a long message with few elements needs none, where C code counts the elements."""

from __future__ import annotations

from proxy.core.allowance import Allowance
from proxy.core.commands import Close, ToBroker, ToClient
from proxy.core.decisions import Forward
from proxy.core.filters import Filters
from proxy.core.link import Link
from proxy.core.request_heads import READ
from proxy.core.turn import ENOUGH, HANDLED
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.slices import LARGE
from proxy.testing import connection, from_broker, from_client
from proxy.testing.lending import with_turns
from tests.proxy.core.frames import answering, asking
from tests.proxy.core.test_turn import Topics, sent


def test_a_long_request_or_answer_of_few_elements_is_handled_at_once() -> None:
    name = "n" * (LARGE + 1_000)
    request = asking(MetadataRequest(topics=[MetadataRequest.Topic(name=name)]), 1)
    topic = MetadataResponse.Topic(error_code=0, name=name, partitions=[])
    answer = answering(MetadataResponse(brokers=[], topics=[topic]), 1)
    link = Link(connection(), Filters([Topics(Forward, Forward)]))
    done, turns = with_turns(link, from_client(link, bytearray(request)))
    assert (sent(done, ToBroker), turns) == (request, 0)
    done, turns = with_turns(link, from_broker(link, bytearray(answer)))
    assert (sent(done, ToClient), turns) == (answer, 0)


def test_a_request_that_cannot_be_read_is_little_work() -> None:
    allowance, ended = Allowance(), 0
    whole = asking(MetadataRequest(topics=[MetadataRequest.Topic(name="t" * 300)]), 1)
    request = whole.replace(b"\x00\x00\x00\x01\x01\x2c", b"\x7f\xff\xff\xff\x01\x2c")  # the number of topics
    assert request != whole
    many = ENOUGH // (HANDLED + READ)
    for _ in range(many):
        link = Link(connection(), Filters([Topics(Forward)]), allowance=allowance)
        ended += any(isinstance(command, Close) for command in from_client(link, bytearray(request)))
    assert ended == many
