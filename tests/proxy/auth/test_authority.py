"""The authority: delays after failures grow, expire, and take bounded memory."""

from proxy.auth.authority import ADDRESSES, FORGOTTEN_AFTER, Failures, ListenerAuthority
from proxy.auth.passwords import PlainExchange


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_each_failure_waits_longer_up_to_five_seconds() -> None:
    failures = Failures(Clock())
    assert [failures.delay("a") for _ in range(8)] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]
    assert failures.delay("b") == 0.1


def test_failures_are_forgotten() -> None:
    clock = Clock()
    failures = Failures(clock)
    failures.delay("a")
    clock.now = FORGOTTEN_AFTER + 1
    assert failures.delay("a") == 0.1


def test_the_oldest_of_too_many_addresses_is_forgotten() -> None:
    failures = Failures(Clock())
    for number in range(ADDRESSES + 1):
        failures.delay(str(number))
    assert failures.delay("0") == 0.1
    assert failures.delay(str(ADDRESSES)) == 0.2


def test_an_authority_begins_what_it_offers() -> None:
    authority = ListenerAuthority({"PLAIN": lambda again: PlainExchange(dict)}, None, 30.0, Failures(Clock()))
    assert authority.mechanisms == ("PLAIN",)
    assert isinstance(authority.begin("PLAIN", False), PlainExchange)
    assert authority.failed("192.0.2.1") == 0.1
