"""Knowledge about a fetch session's request holds only for requests that are equal except for their epoch."""

from __future__ import annotations

import pytest

from plugins.faults.connection_faults import ConnectionFaults, UnmeantSession
from plugins.faults.in_force import FaultsInForce
from plugins.faults.overlay import Overlay
from plugins.faults.unmeant import SameInSession
from proxy.testing import FakeWorker, connection

AFTER = b"\x01\x01\x01\x00"


class Made:
    """A request that passed, and the faults of its connection."""

    def __init__(self) -> None:
        self.faults: object = ConnectionFaults(connection(), FaultsInForce(Overlay(None), FakeWorker().services()))
        assert isinstance(self.faults, ConnectionFaults)
        self.of = self.faults
        self.same = SameInSession(self.of, self.of.session, AFTER, lambda: self.faults)

    def goes_on(self, epoch: int, after: bytes = AFTER) -> bool:
        """Does a request with this epoch go on with the session?"""
        rest = epoch.to_bytes(4, signed=True) + after
        return self.same.goes_on(memoryview(rest), 0, len(rest))


@pytest.mark.parametrize("epoch", [1, 2, 255, 256, 2**31 - 1])
def test_another_epoch_of_a_session_goes_on_with_it(epoch: int) -> None:
    assert Made().goes_on(epoch)


@pytest.mark.parametrize("epoch", [0, -1, -(2**31)])
def test_what_opens_a_session_or_has_none_does_not(epoch: int) -> None:
    assert not Made().goes_on(epoch)


@pytest.mark.parametrize("after", [b"", AFTER[:-1], AFTER + b"\0", b"\x02" + AFTER[1:]])
def test_a_request_that_is_another_after_its_epoch_does_not(after: bytes) -> None:
    assert not Made().goes_on(2, after)


def test_a_request_does_not_that_came_in_part() -> None:
    assert not Made().same.goes_on(memoryview(b"\0\0"), 0, 6)


def test_another_session_or_other_faults_end_it() -> None:
    made = Made()
    made.faults = None
    assert not made.goes_on(2)
    made = Made()
    made.of.session = UnmeantSession()
    assert not made.goes_on(2)
