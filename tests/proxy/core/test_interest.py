"""The fields of a message that all handlers together want, version by version."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from proxy.core.decorators import on_request, on_response
from proxy.core.interest import Interest, interest
from proxy.core.plugin import Plugin
from proxy.core.wish import Handler
from proxy.protocol.codec import encode
from proxy.protocol.messages.metadata import MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest
from proxy.protocol.records import CompressionType
from proxy.protocol.slices import FEW
from tests.plugins.examples.talk import batch, produce


class Brokers(Plugin):
    @on_response(MetadataResponse, fields="brokers")
    def handle(self, ctx: Any, response: Any) -> None: ...


class Controller(Plugin):
    @on_response(MetadataResponse, fields="controller_id")
    def handle(self, ctx: Any, response: Any) -> None: ...


class Everything(Plugin):
    @on_response(MetadataResponse)
    def handle(self, ctx: Any, response: Any) -> None: ...


def wanted(version: int, *plugins: Plugin) -> Interest | None:
    return interest(MetadataResponse, version, [handler for plugin in plugins for handler in plugin.handlers()])


def test_what_nobody_wants_has_no_interest() -> None:
    assert wanted(4) is None


def test_fields_of_several_handlers_are_read_together() -> None:
    both = wanted(4, Brokers(), Controller())
    assert both is not None
    assert (both.names, len(both.handlers)) == ({"brokers", "controller_id"}, 2)


def test_who_wants_everything_decides_for_all() -> None:
    both = wanted(4, Brokers(), Everything())
    assert both is not None
    assert both.names is None


def test_a_version_without_the_field_does_not_call_its_handler() -> None:
    assert wanted(0, Controller()) is None, "controller_id came with v1"
    both = wanted(0, Brokers(), Controller())
    assert both is not None
    assert [str(handler) for handler in both.handlers] == ["Brokers.handle"]


def test_what_was_picked_is_put_back_among_the_rest() -> None:
    brokers = wanted(4, Brokers())
    assert brokers is not None
    body = encode(MetadataResponse(brokers=[], topics=[], cluster_id="c"), 4)
    message: Any = brokers.read(body)
    assert not message.has("cluster_id")
    message.brokers.append(MetadataResponse.Broker(node_id=1, host="h", port=2))
    assert brokers.write(message) == encode(MetadataResponse(brokers=message.brokers, topics=[], cluster_id="c"), 4)


def test_a_message_that_somebody_made_is_written_whole() -> None:
    brokers = wanted(4, Brokers())
    assert brokers is not None
    made = MetadataResponse(brokers=[], topics=[], cluster_id="c")
    assert brokers.write(made) == encode(made, 4)


def test_whoever_wants_a_field_of_a_produce_request_is_told_whether_it_has_an_answer() -> None:
    class Topics(Plugin):
        @on_request(ProduceRequest, fields="topic_data")
        def handle(self, ctx: Any, request: Any) -> None: ...

    wanted = interest(ProduceRequest, 9, Topics().handlers())
    assert wanted is not None
    assert wanted.read(encode(ProduceRequest(acks=-1, timeout_ms=1, topic_data=[]), 9)).acks == -1  # type: ignore[attr-defined]
    assert interest(ProduceRequest, 9, []) is None


def test_handlers_need_slices_for_records_of_which_there_may_be_many() -> None:
    class Records(Plugin):
        @on_request(ProduceRequest, fields="topic_data")
        def handle(self, ctx: Any, request: Any) -> None: ...

    class Acks(Plugin):
        @on_request(ProduceRequest, fields="acks")
        def handle(self, ctx: Any, request: Any) -> None: ...

    class Batches(Plugin):
        def handlers(self, position: int = 0) -> Iterable[Handler]:
            return [replace(handler, over_records=False) for handler in Records().handlers()]

    def many(plugin: Plugin, *records: bytes | None) -> bool:
        wanted = interest(ProduceRequest, 9, plugin.handlers())
        assert wanted is not None
        return wanted.has_many_records(wanted.read(encode(produce(*records), 9)))

    half = batch(*[b"a"] * (FEW // 2))
    assert not many(Records(), None, half, half)
    assert many(Records(), half, half, batch(b"a"))
    assert many(Records(), batch(b"a", compression=CompressionType.GZIP))
    assert not many(Acks(), half, half, half)
    assert not many(Batches(), half, half, half)
