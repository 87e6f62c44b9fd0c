"""A checked request: what its checks refused of it, and what is to be done to its answer.

# What is refused is taken out of the request. Its refusal stands in the answer where brokers put it (`RefusalWriter`).
# Where nothing is left that the broker could be asked, the proxy answers.
# The answer is read only where there is something to do to it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from plugins.acl.client_authorizer import ClientAuthorizer
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
from proxy.plugin.frames import kept
from proxy.plugin.schema import Array, RefusalWriter, RefusedElement


class ApiError(NamedTuple):
    """What is said of what was refused: an error, and a text where brokers say one.

    `repeated`: it is said as often as it is asked, also by brokers that say other errors once.
    """

    error: int
    message: str | None = None
    repeated: bool = False


class CheckedRequest:
    """One request, and what its checks made of it."""

    def __init__(self, ctx: Context, request: Any, authorizer: ClientAuthorizer, names: TopicNames) -> None:
        self.connection = ctx.connection  # and not `ctx`, whose notes may hold this
        self.held = kept(request, ctx.request_bytes)
        self.api = ctx.api
        self.version = ctx.version
        self.request: Any = request
        self.authorizer = authorizer
        self.names = names
        self.refused: list[RefusedElement] = []
        self.after: list[
            Callable[[CheckedRequest, Any], None]
        ] = []  # what is done to the answer before the refusals stand in it
        self.changed = False  # the request differs from the one that came
        self.empty = False  # what was taken out was all there was

    def take_out(
        self,
        array: Array,
        errors: Mapping[int, ApiError],
        *,
        ordered: bool = False,
        anyway: bool = False,
    ) -> None:
        """Take these elements, by index, out of the request, each with its error.

        `anyway`: the broker has more to say than what was asked of these.
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
    def has_more(self) -> bool:
        """Is there something to do to the answer?"""
        return bool(self.refused or self.after)

    def decide(self) -> Decision:
        """What becomes of the request."""
        if self.empty:
            answer = refuse(self.api, self.version, self.request, ErrorCode.NONE)
            if answer is None:
                return Disconnect(f"all of a {self.api.name} request is refused that wants no answer")
            self.finish(answer)
            return Reply(answer)
        return Forward(self.request) if self.changed else None

    def finish(self, response: Response) -> None:
        """Make the answer what it is to be."""
        for do in self.after:
            do(self, response)
        RefusalWriter(self.api, self.version, response).place(self.refused)
