"""Told: the event of a Produce or Fetch request that nobody read. It is made by the thread that writes it.

It says what `events.py` says of one that was read; a test plays the same requests through both. To write its JSON at
once takes 2 us, to make a dict of it first 5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from plugins.audit.queue import QueuedEvent, SharedFields
from plugins.audit.schema import Resource
from proxy.plugin.frames import ToldExchange


def begins(resource: Resource) -> str | None:
    """The JSON with which a resource begins of which this is known; None: it cannot be written."""
    try:
        return to_json(resource)[1:-1].decode()
    except (PydanticSerializationError, ValueError):
        return None


class ToldTraffic(NamedTuple):
    """What was found in a request and its answer, without an error, at `at`, in seconds since 1970.

    `begins` is the JSON with which all such events begin, `heads` that with which the resource of each topic does.
    """

    at: float
    shared: SharedFields
    weight: int
    begins: str
    heads: Mapping[bytes, str]
    found: ToldExchange

    @property
    def kind(self) -> str:
        """As events are called that tell of a request."""
        return "request"

    def said(self) -> str:
        """The fields as they stand in a line, without the braces."""
        number, asked, answered, broker, proxy, partitions = self.found
        resources = [self._resource(*one) for one in partitions]
        return (
            f'{self.begins},"correlation_id":{number},"answered_by":"broker","outcome":"answered","request_bytes":{asked}'
            f',"response_bytes":{answered},"broker_us":{broker},"proxy_us":{proxy}'
            f',"errors":[],"resources":[{",".join(resources)}]'
        )

    def _resource(
        self, topic: bytes, index: int, size: int, records: int, first: int, last: int, earliest: int, latest: int
    ) -> str:
        measured = offsets = times = ""
        if size >= 0:
            measured = f',"bytes":{size},"records":{records}'
            if first >= 0 and records:
                offsets = f',"first_offset":{first},"last_offset":{last}'
            if latest >= 0:
                times = f',"first_timestamp":{earliest},"last_timestamp":{latest}'
        return f'{{{self.heads[topic]},"partition":{index}{measured}{offsets}{times}}}'

    def made(self) -> QueuedEvent:
        """The event, for those who change it."""
        return QueuedEvent(self.kind, self.at, self.shared, json.loads(f"{{{self.said()}}}"), self.weight)
