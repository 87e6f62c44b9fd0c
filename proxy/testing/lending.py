"""Lends bytes to a link, and returns its commands, also if the link said that all bytes may pass (None).

`performed` makes the calls among these commands, in place of the threads of a worker. `with_turns` ends the turns of
other connections.
"""

from __future__ import annotations

from proxy.core.commands import Command, Perform, ToBroker, ToClient, Wake
from proxy.core.failure import FAILURES
from proxy.core.link import Link
from proxy.protocol.frame import Buffer


def from_client(link: Link, data: Buffer) -> list[Command]:
    """The client sends this."""
    lent = memoryview(data)
    commands = link.receive_client(lent)
    return [ToBroker(lent)] if commands is None else commands


def from_broker(link: Link, data: Buffer) -> list[Command]:
    """The broker sends this."""
    lent = memoryview(data)
    commands = link.receive_broker(lent)
    return [ToClient(lent)] if commands is None else commands


def performed(link: Link, commands: list[Command]) -> list[Command]:
    """These commands without the calls among them, and then those that follow once the calls are made."""
    done: list[Command] = []
    while commands:
        done += (command for command in commands if not isinstance(command, Perform))
        calls = [command for command in commands if isinstance(command, Perform)]
        commands = [following for call in calls for following in _perform(link, call)]
    return done


def with_turns(link: Link, commands: list[Command]) -> tuple[list[Command], int]:
    """All commands that follow when each turn of other connections is over at once, and the number of such turns."""
    done: list[Command] = []
    turns = 0
    while commands:
        waiting = [command for command in commands if isinstance(command, Wake) and not command.seconds]
        done += (command for command in commands if command not in waiting)
        turns += len(waiting)
        commands = [command for wake in waiting for command in link.wake(wake.token)]
    return done, turns


def _perform(link: Link, call: Perform) -> list[Command]:
    try:
        value = call.work()
    except FAILURES as error:
        return link.performed(call.token, None, error)
    return link.performed(call.token, value)
