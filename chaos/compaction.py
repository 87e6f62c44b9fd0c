"""Compaction: which records of a compacted topic may be gone, since a later one of their key is in the log.

Rules:
* A record may be gone if another value of its key stands behind it in its partition, or may stand there: a send whose
  place is not known may have been written anywhere.
* A send that failed, or whose transaction was aborted, takes no record away.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator

from chaos.notes import NotedSend, Where


class SameKey:
    """The live sends of one key, with their places as far as they are known."""

    def __init__(self) -> None:
        self.placed: list[tuple[NotedSend, Where]] = []
        self.unplaced: list[NotedSend] = []

    def superseded(self) -> Iterator[NotedSend]:
        """The sends of records that may be gone."""
        last: dict[int, int] = {}
        for _, place in self.placed:
            last[place.partition] = max(place.offset, last.get(place.partition, 0))
        anywhere = {send.value for send in self.unplaced}
        values = anywhere | {send.value for send, _ in self.placed}
        for send, place in self.placed:
            if place.offset < last[place.partition] or len(anywhere) > (send.value in anywhere):
                yield send
        if len(values) > 1:
            yield from self.unplaced


def superseded(
    sends: Iterable[NotedSend], compacted: Collection[str], place_of: Callable[[NotedSend], Where | None]
) -> set[NotedSend]:
    """The sends of records that may be gone. Raises ValueError for one without a key."""
    keys: defaultdict[tuple[str, Hashable], SameKey] = defaultdict(SameKey)
    for send in sends:
        if send.topic not in compacted:
            continue
        if send.key is None:
            raise ValueError(f"{send}, a compacted topic, without a key; say send(..., key=...)")
        place, same = place_of(send), keys[send.topic, send.key]
        if send.failure is not None or (send.transaction is not None and send.transaction.aborted_at is not None):
            continue
        if place is None:
            same.unplaced.append(send)
        else:
            same.placed.append((send, place))
    return {send for same in keys.values() for send in same.superseded()}
