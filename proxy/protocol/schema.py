"""The schema: APIs and their messages, and all the words in which a message is declared.

An API has two message classes, which know their API: so both are in one module. `api.py` has the 95 APIs, `messages` a
module for each. `declarations.py` says what a field is, `structs.py` what a struct is.

Rules:
* A request travels under header v2 from its first flexible version on, under v1 before; a response under v1 and v0.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any, ClassVar

from proxy.protocol.declarations import NEWEST, field, since, tagged, until
from proxy.protocol.structs import Field, Struct, StructType, blank, structs

__all__ = [
    "APIS",
    "NEWEST",
    "Api",
    "Field",
    "Message",
    "Request",
    "Response",
    "Struct",
    "StructType",
    "blank",
    "field",
    "since",
    "structs",
    "tagged",
    "until",
]

APIS: dict[int, Api] = {}


class Api:
    """One kind of request and its response, in all versions from 0 to `newest`.

    Up to version `no_client_id` its requests travel under header v0; with `plain_answer` its responses always do.
    """

    __slots__ = (
        "flexible",
        "inter_broker",
        "key",
        "name",
        "newest",
        "no_client_id",
        "plain_answer",
        "request",
        "response",
    )

    # The message classes put themselves here when `proxy.protocol.messages` is imported.
    request: type[Request]
    response: type[Response]

    def __init__(
        self,
        key: int,
        name: str,
        newest: int,
        *,
        flexible: int | None = None,
        inter_broker: bool = False,
        no_client_id: int = -1,
        plain_answer: bool = False,
    ) -> None:
        self.key = key
        self.name = name
        self.newest = newest
        self.flexible = flexible
        self.inter_broker = inter_broker
        self.no_client_id = no_client_id
        self.plain_answer = plain_answer
        if newest >= 0:
            APIS[key] = self

    @classmethod
    def unknown(cls, key: int) -> Api:
        """An API that is not among `APIS`: it has no versions and no messages."""
        return cls(key, f"Unknown({key})", -1)

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return _api, (self.key,)

    @property
    def versions(self) -> range:
        """Every version that ever shipped."""
        return range(self.newest + 1)

    def is_flexible(self, version: int) -> bool:
        """Does this version write compact lengths and tagged fields (KIP-482)?"""
        return self.flexible is not None and version >= self.flexible

    def request_header(self, version: int) -> int:
        """The version of the header before a request."""
        if version <= self.no_client_id:
            return 0
        return 2 if self.is_flexible(version) else 1

    def response_header(self, version: int) -> int:
        """The version of the header before a response."""
        return 1 if self.is_flexible(version) and not self.plain_answer else 0


def _api(key: int) -> Api:
    return APIS[key]


class Message(Struct):
    """A request, a response, or data that Kafka embeds in them. `opaque` are the bytes that a `Picker` left unread.

    `elements` is the number of elements of all its arrays, if it was read in slices (`slices.py`): code that goes over
    them should do so in slices too. None: it was read in one go.

    `unread` has the names of the fields that a `Picker` left unread. Reading one of them raises AttributeError: nobody
    decides by a default that the sender did not send.
    """

    __slots__ = ("elements", "opaque", "unread")

    api: ClassVar[Api | None] = None
    side: ClassVar[str] = "data"
    if TYPE_CHECKING:
        opaque: tuple[bytes | memoryview, ...] = ()
        elements: int | None = None
        unread: Collection[str] = ()

    def __getattr__(self, name: str) -> Any:
        if name != "unread" and name in self.unread:
            raise AttributeError(f"{type(self).__name__}.{name} was not read: name it in the fields of the handler")
        return super().__getattr__(name)

    @classmethod
    def is_flexible(cls, version: int) -> bool:
        """Does this version write compact lengths and tagged fields?"""
        return cls.api is not None and cls.api.is_flexible(version)

    @classmethod
    def title(cls) -> str:
        """Its name for people: `Produce request`."""
        return f"{cls.api.name} {cls.side}" if cls.api is not None else cls.__name__


class Request(Message):
    """A message from a client to a broker."""

    __slots__ = ()
    side = "request"
    api: ClassVar[Api]

    def __init_subclass__(cls, api: Api) -> None:
        cls.api, api.request = api, cls


class Response(Message):
    """A message from a broker to a client."""

    __slots__ = ()
    side = "response"
    api: ClassVar[Api]

    def __init_subclass__(cls, api: Api) -> None:
        cls.api, api.response = api, cls
