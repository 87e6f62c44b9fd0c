"""The one import of the tests of plugins: `from proxy.testing import Playbook, FromClient, ToBroker, build`.

A `Playbook` is a conversation as one expression, without a network. `build` makes a plugin as the proxy makes it. Its
services come from a `FakeWorker`, where the test sees what the plugin did with them:

    def test_a_card_is_masked() -> None:
        worker = FakeWorker()
        masking = build(Masking, worker, field="card")
        assert Playbook(masking) >> FromClient(produce(CLEAR)) << ToBroker(produce(MASKED))
        assert worker.counts == {"masked": 2}        # every playbook is played twice

A `MessageExchange` is for tests that look at messages, and not at bytes. `request_frame` and `response_frame` make
what a client and a broker send. Tests need pytest, and nothing else.
"""

from proxy.core.commands import (
    Await,
    Close,
    Command,
    Emit,
    HalfClose,
    PauseBroker,
    PauseClient,
    Perform,
    ResumeBroker,
    ResumeClient,
    ToBroker,
    ToClient,
    Wake,
)
from proxy.protocol.header import request_frame, response_frame
from proxy.testing.fakes import FakeClock, FakeRows, FakeTopic, FakeWorker, build
from proxy.testing.lending import from_broker, from_client
from proxy.testing.message_exchange import MessageExchange
from proxy.testing.playbook import ANY, Playbook, connection
from proxy.testing.played import Apply, BrokerCloses, ClientCloses, FromBroker, FromClient, Time

__all__ = [
    "ANY",
    "Apply",
    "Await",
    "BrokerCloses",
    "ClientCloses",
    "Close",
    "Command",
    "Emit",
    "FakeClock",
    "FakeRows",
    "FakeTopic",
    "FakeWorker",
    "FromBroker",
    "FromClient",
    "HalfClose",
    "MessageExchange",
    "PauseBroker",
    "PauseClient",
    "Perform",
    "Playbook",
    "ResumeBroker",
    "ResumeClient",
    "Time",
    "ToBroker",
    "ToClient",
    "Wake",
    "build",
    "connection",
    "from_broker",
    "from_client",
    "request_frame",
    "response_frame",
]
