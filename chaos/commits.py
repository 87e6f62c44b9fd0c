"""Commits: the offsets that a group committed before it had read all records below.

Rules:
* A group must have read what stands between the start of its passes, or its last commit, and the offset it commits.
* A commit in a transaction counts if the transaction was committed.
* A record that a member went past is a skip, and one that all readers went past is a lost write. Neither is reported
  here.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator

from chaos.anomalies import Anomaly, AnomalyKind
from chaos.log import ObservedLog, Partition, Reach
from chaos.notes import NotedCommit, Where


def committed_past(log: ObservedLog, past: set[Where]) -> Iterator[Anomaly]:
    """Offsets that a group committed before it had read all records below. `past` takes the places of these records."""
    commits = sorted(commit for client in log.clients for commit in client.commits)
    if not commits:
        return
    starts: dict[tuple[str, Partition], int] = {}
    begun: list[tuple[int, tuple[str, Partition], int]] = []  # the starts of passes that are not yet in `starts`
    had: dict[str, dict[Where, int]] = defaultdict(dict)  # group -> when it first read each place
    for one in log.passes:
        if one.client.group is not None:
            begun.append((one.begun, (one.client.group, one.partition), one.start))
            moments = had[one.client.group]
            for read in one.reads:
                moments[read.place] = min(read.moment, moments.get(read.place, read.moment))
    reach = {
        group: Reach(one for one in log.passes if one.client.group == group)
        for group in {commit.group for commit in commits}
    }
    known = _known(log, {commit.place[:2] for commit in commits})
    begun.sort(reverse=True)
    judged = set[tuple[str, Partition]]()
    for commit in commits:
        while begun and begun[-1][0] < commit.moment:
            _, key, start = begun.pop()
            if key not in judged:  # a group that committed and reads again from before may go on at its commit
                starts[key] = min(start, starts.get(key, start))
        key = (commit.group, commit.place[:2])
        if key not in starts or not _counts(log, commit):
            continue
        judged.add(key)
        offsets = known[commit.place[:2]]
        for index in range(bisect_left(offsets, starts[key]), bisect_left(offsets, commit.place.offset)):
            place = commit.place._replace(offset=offsets[index])
            when = had[commit.group].get(place)
            went = reach[commit.group] if place in log.reads else log.reach
            if when is None and (place in log.gone or went.beyond(place) is not None):
                continue
            if when is None or when > commit.moment:
                past.add(place)
                yield Anomaly.at(AnomalyKind.COMMITTED_PAST, place, _seen_at(log, place), commit)
        starts[key] = max(starts[key], commit.place.offset)


def _counts(log: ObservedLog, commit: NotedCommit) -> bool:
    transaction = commit.transaction
    return transaction is None or transaction.committed_at is not None or transaction in log.proven


def _known(log: ObservedLog, partitions: set[Partition]) -> dict[Partition, list[int]]:
    """The offsets of all records that a group must read: those that a client read, and those that must exist."""
    places: dict[Partition, set[int]] = {
        partition: set(log.readable("read_committed").get(partition, ())) for partition in partitions
    }
    for attempts in log.sends.values():
        for send in attempts:
            if send.place is not None and send.place[:2] in partitions and log.is_kept(send):
                places[send.place[:2]].add(send.place.offset)
    return {partition: sorted(offsets) for partition, offsets in places.items()}


def _seen_at(log: ObservedLog, place: Where) -> object:
    if place in log.reads:
        return log.reads[place]
    return f"an acknowledged record stands at {place}"
