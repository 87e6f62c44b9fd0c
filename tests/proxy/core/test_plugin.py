"""Plugins declare their handlers; a mistake in a declaration is an error before the start."""

from typing import Any

import pytest

from proxy.core.decorators import on_event, on_outcome, on_request, on_response, on_unreadable, on_unsupported
from proxy.core.events import Connected
from proxy.core.filters import Filters
from proxy.core.plugin import Plugin
from proxy.core.wish import carrying
from proxy.protocol.api import METADATA
from proxy.protocol.messages.find_coordinator import FindCoordinatorResponse
from proxy.protocol.messages.metadata import MetadataRequest, MetadataResponse
from proxy.protocol.messages.produce import ProduceRequest, ProduceResponse
from proxy.protocol.wire import Meaning


class Base(Plugin):
    @on_response(MetadataResponse, fields="brokers topics")
    def metadata(self, ctx: Any, response: MetadataResponse) -> None: ...


class Derived(Base):
    @on_request(MetadataRequest)
    @on_request(ProduceRequest, fields=["acks"])
    def both(self, ctx: Any, request: Any) -> None: ...


def test_a_plugin_has_the_handlers_of_its_bases_first() -> None:
    handlers = list(Derived().handlers(3))
    assert [(str(handler), handler.wish.what) for handler in handlers] == [
        ("Base.metadata", MetadataResponse),
        ("Derived.both", MetadataRequest),
        ("Derived.both", ProduceRequest),
    ]
    assert {handler.position for handler in handlers} == {3}


def test_what_an_author_keeps_hides_no_handler() -> None:
    class Keeping(Plugin):
        def __init__(self) -> None:
            super().__init__()
            self.wishes = self.outcomes = self.unsupported = self.unreadable = 0

        @on_request(MetadataRequest)
        def metadata(self, ctx: Any, request: MetadataRequest) -> None: ...

        @on_outcome(METADATA)
        def ended(self, ctx: Any, outcome: Any) -> None: ...

        @on_unsupported(MetadataRequest)
        def unknown(self, ctx: Any) -> None: ...

        @on_unreadable(MetadataRequest)
        def odd(self, ctx: Any) -> Any: ...

    keeping = Keeping()
    filters = Filters([keeping])
    chain = filters.table[METADATA.key << 16]
    assert chain.request is not None
    assert [handler.call for handler in chain.request.handlers] == [keeping.metadata]
    assert (list(chain.observers), chain.unreadable) == ([keeping.ended], keeping.odd)
    assert filters.unsupported == {METADATA.key: keeping.unknown}


@pytest.mark.parametrize("name", ["connected", "stop", "observers", "handlers", "held"])
def test_a_handler_that_has_the_name_of_a_method_of_plugins_is_an_error_at_once(name: str) -> None:
    @on_event(Connected)
    def handler(self: Any, connection: Any, event: Connected) -> None: ...

    with pytest.raises(TypeError, match=rf"^Hiding\.{name}: Plugin has a method of this name; call the handler oth"):
        type("Hiding", (Plugin,), {name: handler})


def test_a_handler_wants_its_fields_of_its_message_and_nothing_of_others() -> None:
    metadata, whole, acks = (handler.wish for handler in Derived().handlers())
    assert metadata.of(MetadataResponse) == {"brokers", "topics"}
    assert metadata.of(ProduceResponse) == frozenset()
    assert whole.of(MetadataRequest) is None
    assert acks.of(ProduceRequest) == {"acks"}


def test_a_meaning_stands_for_the_fields_that_lead_to_it() -> None:
    hosts = carrying(Meaning.HOST)
    assert hosts.fields(MetadataResponse) == {"brokers"}
    assert hosts.fields(ProduceResponse) == {"node_endpoints"}
    assert hosts.fields(MetadataRequest) == frozenset()
    everything = frozenset(field.name for field in FindCoordinatorResponse.fields)
    assert hosts.fields(FindCoordinatorResponse) == everything, "an address of the message itself needs its neighbours"


@pytest.mark.parametrize(
    ("decorator", "what", "fields", "why"),
    [
        (on_response, MetadataResponse, "brokerz", "has no field 'brokerz'; did you mean 'brokers'"),
        (on_response, MetadataRequest, None, "'MetadataRequest' is no Response class"),
        (on_request, "Metadata", None, "'Metadata' is no Request class"),
        (on_request, carrying(Meaning.HOST), "brokers", "leave `fields` out"),
    ],
)
def test_a_misspelt_wish_is_an_error_at_once(decorator: Any, what: Any, fields: Any, why: str) -> None:
    with pytest.raises(TypeError) as error:
        decorator(what, fields=fields)
    assert why in str(error.value)
