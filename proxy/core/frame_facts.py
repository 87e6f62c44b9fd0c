"""Frame facts: what is found in frames of one API and version without reading them.

Rules:
* A walk over a frame takes 1 us or more, so what the last one found is remembered where most frames are the same: the
  beginning of a response without an error, and the layout of those without tagged fields.
* No mistake is reported here. If a frame cannot be walked, it is read, and reading reports what is wrong.
* Only the first part of a frame may be there. A fact that this part does not tell is None, or the value with which the
  frame is read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from proxy.protocol.alike import Alike, Looked
from proxy.protocol.api import Api
from proxy.protocol.codec import BAD_BYTES, end_finder, skipper, tags_finder
from proxy.protocol.frame import RESPONSE_HEAD, SIZE
from proxy.protocol.header import LONGEST_OF_RESPONSE, ResponseHeader
from proxy.protocol.picker import Picker, picker
from proxy.protocol.schema import Request, Response
from proxy.protocol.slices import FEW, LIGHT
from proxy.protocol.tally import ElementCount, element_counter

HEAD = RESPONSE_HEAD.size
CORRELATION_ID = HEAD - SIZE.size  # bytes
SHORT = 64  # bytes of the beginning of a response that is remembered


class FrameFacts:
    """The frames of one API in one version. `read_of_response`: the fields of responses that are read; None: all."""

    def __init__(self, api: Api, version: int, read_of_response: frozenset[str] | None) -> None:
        self.api = api
        self.version = version
        self.key = api.key << 16 | version
        self.header_version = api.request_header(version)
        self._read_of_response = read_of_response
        self._bare = Alike()
        self._no_error = b""  # how the last one without an error began behind its head: most do, and 0.3 us are saved
        self._response_header = skipper(ResponseHeader, api.response_header(version))

    @cached_property
    def _error_end(self) -> Callable[[bytes | memoryview, int], int] | None:
        """Finds the end of the response's own error code; None: it has none in this version."""
        field = self.api.response.field.get("error_code")
        has_one = field is not None and field.present(self.version)
        return end_finder(self.api.response, self.version, "error_code") if has_one else None

    def may_be_error(self, data: memoryview, start: int, stop: int) -> bool:
        """Has the response from `start` to `stop` an error of its own, or is it not known yet?"""
        same = self._no_error
        begin = start + HEAD
        end = begin + len(same)
        if same and end <= stop and data[begin:end].tobytes() == same:
            return False
        if self._error_end is None:
            return False
        end = self._error_end(data, self._response_header(data, start + SIZE.size))
        if end > stop or data[end - 2] != 0 or data[end - 1] != 0:
            return True
        self._no_error = bytes(data[begin:end]) if end - begin <= SHORT else b""
        return False

    @cached_property
    def _acks(self) -> Picker[Any]:
        return picker(self.api.request, self.version, "acks")

    def acks(self, frame: memoryview, body: int) -> int | None:
        """The acks of a Produce request, which may not be whole yet; None: more bytes are needed."""
        request = self._acks.prefix(frame, body)
        return None if request is None else int(request.acks)

    def acks_end(self, frame: memoryview, body: int) -> int:
        """Where the acks end, in a Produce request whose acks `acks()` could read."""
        return end_finder(self.api.request, self.version, "acks")(frame, body)

    def few(self, cls: type[Request] | type[Response], frame: memoryview, body: int) -> int | None:
        """How many elements handlers will look at in this whole frame. None: they are not few, or it is not known."""
        if len(frame) > LIGHT:
            return None
        try:
            count = self._response_elements if cls is self.api.response else self._request_elements
            return count(frame, body, FEW)
        except BAD_BYTES:
            return 0  # reading it says what is wrong, and no handler looks at it

    @cached_property
    def _request_elements(self) -> ElementCount:
        return element_counter(self.api.request, self.version)  # a request is read whole where it is refused

    @cached_property
    def _response_elements(self) -> ElementCount:
        return element_counter(self.api.response, self.version, self._read_of_response)

    def ends_bare(self, data: memoryview, start: int, stop: int) -> bool:
        """Has the response from `start` to `stop` no tagged fields of its own? Most of Produce and Fetch have none.

        If only such fields are wanted, no handler needs to see it: 0.4 us instead of 6 for reading it and asking them.
        """
        body = start + HEAD
        if self._bare.knows(data, body, stop):
            return True
        try:
            tags = self._to_tags(data, body)
            if tags + 1 != stop or data[tags]:
                return False
        except BAD_BYTES:
            return False  # reading it says what is wrong
        self._bare.remember(data, body, stop, self._to_end)
        return True

    @cached_property
    def _find_tags(self) -> Callable[[bytes | memoryview, int], int]:
        return tags_finder(self.api.response, self.version)

    def _to_tags(self, data: Any, after_head: int) -> int:
        """From the end of a response's head to where its own tagged fields begin."""
        return self._find_tags(data, self._response_header(data, after_head - CORRELATION_ID))

    def _to_end(self, data: Looked, after_head: int) -> int:
        """The byte in which these tagged fields are counted."""
        return data[self._to_tags(data, after_head)]

    def response_body(self, frame: bytes | memoryview) -> int | None:
        """Where the body begins in a response of which `frame` is the beginning.

        None: more bytes are needed, or the tagged fields of its header are too long.
        """
        frame = frame[: SIZE.size + LONGEST_OF_RESPONSE]
        try:
            body = self._response_header(frame, SIZE.size)
        except BAD_BYTES:
            return None
        return body if body <= len(frame) else None
