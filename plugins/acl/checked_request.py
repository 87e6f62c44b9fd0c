"""A checked request: the elements that its checks refused, and the changes to make to its answer.

Rules:
* Elements that are refused are taken out of the request. Their errors are put where brokers put them (`RefusalWriter`).
* Where nothing is left to ask the broker, the proxy answers.
* The answer is read only where it must be changed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from plugins.acl.request_authorizer import RequestAuthorizer
from proxy.plugin import (
    PRODUCE,
    Context,
    Decision,
    Disconnect,
    ErrorCode,
    Forward,
    Reply,
    Response,
    TopicNames,
    refuse,
    turns,
)
from proxy.plugin.frames import kept_bytes
from proxy.plugin.schema import Array, RefusalWriter, RefusedElement


class ApiError(NamedTuple):
    """The error for a refused element, with a message where brokers give one.

    `repeated`: it is given for each occurrence in the request, also by brokers that give other errors once.
    """

    error: int
    message: str | None = None
    repeated: bool = False


AnswerChange: TypeAlias = "Callable[[CheckedRequest, Any], None]"


class CheckedRequest:
    """One request, with the results of its checks."""

    def __init__(self, ctx: Context, request: Any, authorizer: RequestAuthorizer, names: TopicNames) -> None:
        self.connection = ctx.connection  # and not `ctx`, whose notes may hold this
        self.held = kept_bytes(request, ctx.request_bytes)
        self.api = ctx.api
        self.version = ctx.version
        self.request: Any = request
        self.authorizer = authorizer
        self.names = names
        self.refused: list[RefusedElement] = []
        # Changes to the answer that its rules decide, and others. They are made before the refusals are put into it.
        self.judging: list[AnswerChange] = []
        self.after: list[AnswerChange] = []
        self.changed = False  # the request differs from the one that came
        self.empty = False  # all elements were taken out

    def take_out(
        self,
        array: Array,
        errors: Mapping[int, ApiError],
        *,
        ordered: bool = False,
        anyway: bool = False,
    ) -> None:
        """Take these elements, by index, out of the request, and note the error of each.

        `anyway`: the broker is asked even if no element is left, since its answer has more than these.
        """
        if not errors:
            return
        elements = array.elements
        self.refused += (
            RefusedElement(array.path, array.link(elements[index]), index, *error, ordered)
            for index, error in turns(errors.items())
        )
        left = [element for index, element in enumerate(turns(elements)) if index not in errors]
        setattr(array.chain[-1], array.field.name, left)
        self.changed = True
        self.empty |= not left and len(array.path) == 1 and not anyway

    def refuse(self, error: int, message: str | None = None) -> Decision:
        """Refuse the whole request."""
        answer = refuse(self.api, self.version, self.request, error, message)
        if answer is None:
            return Disconnect(f"{ErrorCode(error).name} on a {self.api.name} request that wants no answer")
        if self.api is PRODUCE:
            RefusalWriter(self.api, self.version, answer).join()
        return Reply(answer)

    @property
    def is_as_it_came(self) -> bool:
        """Whether nothing of the request was refused or changed, and no refusal recorded."""
        return not self.changed and not self.authorizer.recorded

    @property
    def has_more(self) -> bool:
        """Whether the answer must be changed."""
        return bool(self.refused or self.judging or self.after)

    def decide(self) -> Decision:
        """The decision on the request, after its checks."""
        if self.empty:
            answer = refuse(self.api, self.version, self.request, ErrorCode.NONE)
            if answer is None:
                return Disconnect(f"all of a {self.api.name} request is refused that wants no answer")
            self.finish(answer)
            return Reply(answer)
        return Forward(self.request) if self.changed else None

    def finish(self, response: Response) -> None:
        """Change the answer, and put the refusals into it."""
        for do in (*self.judging, *self.after):
            do(self, response)
        RefusalWriter(self.api, self.version, response).place(self.refused)
