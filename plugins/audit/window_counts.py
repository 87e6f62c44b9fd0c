"""Counts of a window: the numbers of requests that are recorded together.

Rules:
* Counts of requests, records, bytes and errors by name are exact. Offset ranges are those that were written or read.
* The tally of unread requests is added once, when the window is recorded.
* A window gives one event. So it has no more resources, and no more text, than the event of a request may have. A
  single request always has room.
"""

from __future__ import annotations

from plugins.audit.lines import timestamp
from plugins.audit.moved import Counted, PartitionTraffic
from plugins.audit.request_schema import Failure, Resource
from plugins.audit.schema import Summary
from plugins.audit.traffic import MOST as MOST_OF_ONE
from plugins.audit.traffic import MOST_TEXT
from proxy.plugin import Api, ErrorCode, Outcome
from proxy.plugin.frames import CompiledTally


class ResourceCount:
    """The counts of one resource."""

    __slots__ = ("failures", "head", "records", "requests", "size", "traffic")

    def __init__(self, head: Resource) -> None:
        self.head = head
        self.requests = self.size = 0
        self.records: int | None = None
        self.traffic = PartitionTraffic()
        self.failures: dict[int, list[int]] = {}

    def add(self, moved: PartitionTraffic) -> None:
        """Count one more request about it."""
        self.requests += 1
        if moved.error:
            failed = self.failures.setdefault(moved.error, [0, 0])
            failed[0] += 1
            failed[1] += moved.records or 0
            return
        if moved.size >= 0:
            self.size += moved.size
            if moved.records is not None:
                self.records = (self.records or 0) + moved.records
            _widen(self.traffic, moved)

    def add_all(
        self, requests: int, records: int | None, size: int, first: int, last: int, earliest: int, latest: int
    ) -> None:
        """Count more requests about it, none of which failed. `records` None: none of them had records."""
        self.requests += requests
        if records is None:
            return
        self.size += size
        self.records = (self.records or 0) + records
        moved = PartitionTraffic()
        moved.records, moved.first_offset, moved.last_offset = records, first, last
        moved.first_timestamp, moved.last_timestamp = earliest, latest
        _widen(self.traffic, moved)


def _widen(all_: PartitionTraffic, one: PartitionTraffic) -> None:
    if one.first_offset >= 0 and one.records:
        all_.first_offset = one.first_offset if all_.first_offset < 0 else min(all_.first_offset, one.first_offset)
        all_.last_offset = max(all_.last_offset, one.last_offset)
    if one.last_timestamp >= 0:
        earliest = all_.first_timestamp
        all_.first_timestamp = one.first_timestamp if earliest < 0 else min(earliest, one.first_timestamp)
        all_.last_timestamp = max(all_.last_timestamp, one.last_timestamp)


class Window:
    """The counts of one window. `since` and `until`: seconds since 1970."""

    def __init__(self, since: float, until: float) -> None:
        self.since, self.until, self.last = since, until, since
        self.requests = self.without_answer = self.request_bytes = self.response_bytes = 0
        self.broker = self.proxy = self.broker_most = self.proxy_most = 0.0
        self.counts: dict[Counted, ResourceCount] = {}
        self.named = 0  # bytes of names
        self.weight = 0  # the room that it takes among all windows
        self.tally: CompiledTally | None = None  # of unread requests

    def is_full_with(self, more: int, named: int) -> bool:
        """Whether there is no room for `more` resources, with `named` bytes of names. One request always has room."""
        is_begun = bool(self.counts)
        return is_begun and (len(self.counts) + more > MOST_OF_ONE or self.named + named > MOST_TEXT)

    def add(self, at: float, outcome: Outcome) -> None:
        """Count one more request."""
        self.requests += 1
        if at > self.last:
            self.last = at
        elif at < self.since:  # its event waited for the name of a topic
            self.since = at
        self.request_bytes += outcome.request_bytes
        self.response_bytes += outcome.response_bytes
        left, sent, answered = outcome.left, outcome.sent, outcome.answered
        if left is None:
            self.without_answer += 1
            return
        broker = answered - sent if sent is not None and answered is not None else 0.0
        proxy = left - outcome.came - broker
        self.broker += broker
        self.proxy += proxy
        if broker > self.broker_most:
            self.broker_most = broker
        if proxy > self.proxy_most:
            self.proxy_most = proxy

    def _add_tally(self, tally: CompiledTally) -> None:
        """Add the counts of unread requests, and close the tally."""
        requests, asked, answered, broker, proxy, broker_most, proxy_most, since, last, cells = tally.take()
        if not requests:
            return
        self.requests += requests
        self.request_bytes += asked
        self.response_bytes += answered
        self.broker += broker
        self.proxy += proxy
        self.broker_most, self.proxy_most = max(self.broker_most, broker_most), max(self.proxy_most, proxy_most)
        self.since, self.last = min(self.since, since), max(self.last, last)
        for cell in cells:
            topic, index = cell[:2]
            count = self.counts.get(("topic", topic, index)) or self.counts["topic", topic.decode(), index]
            count.add_all(*cell[2:])

    def fields(self, api: Api, version: int) -> Summary:
        """The fields of the summary."""
        if self.tally is not None:
            self._add_tally(self.tally)
        names = {ErrorCode(error).name: None for count in self.counts.values() for error in count.failures}
        return {
            "api": api.name,
            "api_version": version,
            "window_from": timestamp(self.since),
            "window_to": timestamp(self.last),
            "requests": self.requests,
            "without_answer": self.without_answer,
            "request_bytes": self.request_bytes,
            "response_bytes": self.response_bytes,
            "broker_us": round(self.broker * 1e6),
            "proxy_us": round(self.proxy * 1e6),
            "broker_us_most": round(self.broker_most * 1e6),
            "proxy_us_most": round(self.proxy_most * 1e6),
            "errors": list(names),
            "resources": [self._resource(key, count) for key, count in self.counts.items()],
        }

    def _resource(self, key: Counted, count: ResourceCount) -> Resource:
        resource, index = count.head, key[2]
        if index is not None:
            resource["partition"] = index
        resource["requests"] = count.requests
        if count.records is not None:
            resource["records"] = count.records
        if count.size:
            resource["bytes"] = count.size
        traffic = count.traffic
        if traffic.first_offset >= 0:
            resource["first_offset"], resource["last_offset"] = traffic.first_offset, traffic.last_offset
        if traffic.last_timestamp >= 0:
            resource["first_timestamp"] = traffic.first_timestamp
            resource["last_timestamp"] = traffic.last_timestamp
        if count.failures:
            resource["failures"] = [
                Failure(error=ErrorCode(error).name, requests=requests, records=records)
                for error, (requests, records) in count.failures.items()
            ]
        return resource
