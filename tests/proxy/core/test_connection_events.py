"""Observers get the events of a connection: its start, its principal, and its end."""

from __future__ import annotations

from functools import partialmethod
from typing import Any

import pytest

from proxy.core.clock import Clock
from proxy.core.commands import Close, Emit
from proxy.core.context import Connection, Context
from proxy.core.decisions import Disconnect, How, Steps
from proxy.core.decorators import on_event, on_outcome
from proxy.core.events import Authenticated, Closed, Connected, Fact, ObserverFailed, Refused
from proxy.core.filters import Filters
from proxy.core.limits import Counters, Limits
from proxy.core.link import Link
from proxy.core.outcome import Outcome
from proxy.core.plugin import Plugin
from proxy.testing import connection, from_client
from tests.proxy.core.frames import heartbeat, metadata
from tests.proxy.core.test_decisions import Down


class Noting(Plugin):
    """Notes the events of connections, and the outcomes of requests."""

    def __init__(self) -> None:
        self.noted: list[Any] = []

    @on_event(Connected, Authenticated, Closed)
    def happened(self, connection: Connection, event: Fact) -> None:
        self.noted.append(event)

    @on_outcome()
    def ended(self, ctx: Context, outcome: Outcome) -> None:
        self.noted.append(ctx.correlation_id)


class Stumbling(Plugin):
    """Fails when it gets an event."""

    @on_event(Connected, Closed)
    def stumble(self, connection: Connection, event: Fact) -> None:
        raise ValueError("boom")


def test_a_connection_begins_and_ends_once_and_its_requests_between() -> None:
    noting, clock = Noting(), Clock(5.0)
    link = Link(connection(), Filters([noting]), clock=clock)
    link.begin()
    from_client(link, metadata(1) + heartbeat(2))
    clock.now = 9.0
    link.broker_closed()
    link.release("the broker closed", 100, 200)
    assert noting.noted == [Connected(), 1, 2, Closed("the broker closed", 5.0, 9.0, 100, 200)]


@pytest.mark.parametrize("how", How)
def test_whatever_ends_it_it_ends_once(how: How) -> None:
    noting = Noting()
    link = Link(connection(), Filters([noting, Down(Disconnect("a fault", how))]))
    link.begin()
    from_client(link, heartbeat(1))
    link.client_closed()
    link.release("a fault")
    assert noting.noted == [Connected(), 1, Closed("a fault", 0.0, 0.0, 0, 0)]


def test_a_connection_that_fails_as_it_begins_ends_too() -> None:
    class Failing(Plugin):
        def connected(self, connection: Connection) -> Steps:
            raise ValueError("boom")

    noting = Noting()
    link = Link(connection(), Filters([noting, Failing()]))
    assert Close("Failing.connected failed") in [
        each if not isinstance(each, Close) else Close(str(each.reason).rpartition(".<locals>.")[2])
        for each in link.begin()
    ]
    link.release("it failed")
    assert [type(each) for each in noting.noted] == [Connected, Closed]


def test_one_that_never_began_does_not_end() -> None:
    noting = Noting()
    Link(connection(), Filters([noting])).release("it failed")
    assert noting.noted == []


def test_those_who_ask_are_told_who_authenticated_and_who_was_refused() -> None:
    class Refusals(Noting):
        @on_event(Refused)
        def refused(self, connection: Connection, event: Refused) -> None:
            self.noted.append(event.why)

    noting, refusals = Noting(), Refusals()
    one = connection()
    link = Link(one, Filters([noting, refusals]))
    one.gate.tell(Authenticated("PLAIN", "User:alice"))
    one.gate.tell(Refused("PLAIN", "no such user"))
    assert noting.noted == [Authenticated("PLAIN", "User:alice")]
    assert refusals.noted == [Authenticated("PLAIN", "User:alice"), "no such user"]
    assert [each.event for each in link.outbox.commands if isinstance(each, Emit)] == [
        Authenticated("PLAIN", "User:alice"),
        Refused("PLAIN", "no such user"),
    ]


def test_an_observer_that_fails_stops_nothing_and_is_told_of_to_the_end() -> None:
    noting, counters = Noting(), Counters()
    link = Link(connection(), Filters([Stumbling(), noting]), counters=counters)
    failed = [command.event for command in [*link.begin(), *link.release()] if isinstance(command, Emit)]
    assert [type(event) for event in failed] == [ObserverFailed, ObserverFailed]
    assert failed[0].observer == "Stumbling.stumble"  # type: ignore[union-attr]
    assert counters.failed_observers == 2
    assert [type(each) for each in noting.noted] == [Connected, Closed]


def test_an_observer_without_a_name_of_its_own_stops_nothing_either() -> None:
    class Partial(Plugin):
        def _fails(self, why: str, connection: Connection, event: Fact) -> None:
            raise RuntimeError(why)

        told = on_event(Connected)(partialmethod(_fails, "no disk"))  # type: ignore[type-var]

    (failed,) = Link(connection(), Filters([Partial()])).begin()
    assert isinstance(failed, Emit)
    assert isinstance(failed.event, ObserverFailed)
    assert failed.event.observer.endswith("Partial._fails")


def test_the_configuration_in_force_hears_of_the_end() -> None:
    before, now = Noting(), Noting()
    link = Link(connection(), Filters([before]))
    link.begin()
    link.apply(Filters([now]), Limits())
    link.release()
    assert before.noted == [Connected()]
    assert [type(each) for each in now.noted] == [Closed]
