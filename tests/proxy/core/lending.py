"""Turns of other connections, in a conversation without a network."""

from __future__ import annotations

from proxy.core.commands import Command, Wake
from proxy.core.link import Link


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
