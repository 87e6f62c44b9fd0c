"""Alone: tasks beside the conversation that ask the broker between two requests of the client.

Rules:
* Such a task goes on when no request of the client is on its way to the broker, and none begins until the task leaves.
  A request that waits for its handlers is on its way: it would leave in the middle of the task's questions.
* Where the client authenticates with the broker, the task goes on after that.
* Several tasks have their turns in the order in which they came.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from proxy.core.admission import Admission
from proxy.core.decisions import Alone
from proxy.core.lane import State
from proxy.core.requests import Requests
from proxy.core.task import Task
from proxy.core.token_stream import TokenStream


class LoneTasks:
    """The lone tasks of one link."""

    def __init__(self, admission: Admission, requests: Requests, tokens: TokenStream) -> None:
        self._admission = admission
        self._requests = requests
        self._tokens = tokens
        self._waiting: deque[Task[Any]] = deque()
        self._has_turn = False  # is one of them alone now?

    def come(self, task: Task[Any], step: Alone) -> bool:
        """Let no further request begin before `leave()`, while a request under way goes on.

        True: no request is under way. Otherwise this task goes on once that is so.
        """
        self._admission.be_alone(True)
        if self._is_between and not self._has_turn:
            self._has_turn = True
            return True
        self._waiting.append(task)
        self._requests.unsettled = True
        return False

    def leave(self) -> None:
        """The task that was alone has done what it wanted to do alone."""
        self._has_turn = False
        if self._waiting:
            self._requests.unsettled = True
        else:
            self._admission.be_alone(False)

    def settle(self) -> None:
        """Have the next task go on, if it may."""
        if self._waiting and self._is_between and not self._has_turn:
            task, self._has_turn = self._waiting.popleft(), True
            self._requests.unsettled = self._requests.is_over
            task.go_on(None)

    def drop(self) -> None:
        """The link is closed."""
        while self._waiting:
            self._waiting.popleft().drop()

    @property
    def _is_between(self) -> bool:
        requests = self._requests
        is_between = requests.splitter.between and requests.state is not State.WAITING
        return is_between and not self._tokens.raw and not self._admission.authenticating
