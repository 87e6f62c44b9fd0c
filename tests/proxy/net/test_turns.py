"""Turns: a connection with much work continues one slice at a time, in turn with the others."""

from proxy.net import turns as module
from proxy.net.turns import Turns


def test_who_had_a_turn_goes_to_the_end_of_the_line():
    turns, order = Turns(), []

    def work(name, times):
        order.append(name)
        if times > 1:
            turns.wait(lambda: work(name, times - 1))

    turns.wait(lambda: work("a", 3))
    turns.wait(lambda: work("b", 1))
    while turns.line:
        turns.serve()
        order.append("events")
    assert order == ["a", "b", "events", "a", "events", "a", "events"]


def test_however_many_wait_events_are_looked_at_after_a_while(monkeypatch):
    turns, done = Turns(), []
    for number in range(3):
        turns.wait(lambda number=number: done.append(number))
    monkeypatch.setattr(module, "SHARE", -1.0)
    turns.serve()
    assert done == [0]
    assert len(turns.line) == 2
