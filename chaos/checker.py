"""The checker: finds the anomalies in a history. Its time is n log n in the number of notes.

Rules:
* An open question in the notes is no anomaly: a send that was never answered may have been written or not.
* A place is reported once for each kind, however many clients saw it.
* One fault is reported once, as the most specific kind. A record that its group committed past is not reported as
  unseen too. Nor is a record reported as lost if its place holds another value.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence

from chaos.anomalies import Anomaly, AnomalyKind
from chaos.log import ObservedLog, Partition, Pass, Reach
from chaos.notes import ClientHistory, NotedCommit, NotedRead, NotedSend, Where


def check(clients: Sequence[ClientHistory], read_to_end: bool) -> Iterator[Anomaly]:
    """All anomalies. `read_to_end`: an acknowledged record that no client read is one too."""
    told = set[tuple[AnomalyKind, str]]()
    for anomaly in _all(ObservedLog(clients), read_to_end):
        if (anomaly.kind, anomaly.place) not in told:
            told.add((anomaly.kind, anomaly.place))
            yield anomaly


def _all(log: ObservedLog, read_to_end: bool) -> Iterator[Anomaly]:
    for read in log.all_reads():
        yield from _read(log, read)
    for one in log.passes:
        yield from _backwards(one)
        yield from _skips(log, one)
    for client in log.clients:
        yield from _send_order(log, client)
    past = set[Where]()
    yield from _commits(log, past)
    yield from _missing(log, past, read_to_end)


def _read(log: ObservedLog, read: NotedRead) -> Iterator[Anomaly]:
    """Anomalies of one read: another value was read at this place, or this value must not be read here."""
    first = log.reads[read.place]
    if first.value != read.value:
        yield _anomaly(AnomalyKind.INCONSISTENT_OFFSET, read.place, first, read)
    attempts = log.sends.get((read.place.topic, read.value))
    if attempts is None:
        if read.place.topic in log.topics:
            yield _anomaly(AnomalyKind.UNSENT, read.place, read)
        return
    committed_only = read.client.isolation == "read_committed"
    written = [send for send in attempts if send.place == read.place] or [
        send for send in attempts if send.place is None
    ]
    dead = [send for send in written if _is_dead(send, committed_only)]
    if written and len(dead) == len(written):
        log.struck.add(read.place)
        yield _anomaly(AnomalyKind.ABORTED_READ, read.place, *_told(dead[0]), read)
        return
    transaction = written[0].transaction if len(written) == 1 and committed_only else None
    if transaction is not None and (transaction.committing is None or transaction.committing > read.moment):
        log.struck.add(read.place)
        yield _anomaly(AnomalyKind.PRECOMMITTED_READ, read.place, written[0], read, transaction)
        return
    elsewhere = log.found[read.place.topic, read.value]
    if elsewhere.place != read.place and (committed_only or not any(_is_dead(send, True) for send in attempts)):
        yield _anomaly(AnomalyKind.DUPLICATE, read.place, attempts[0], elsewhere, read)


def _is_dead(send: NotedSend, committed_only: bool) -> bool:
    """Whether no client may ever read it; `committed_only`: no client that reads committed records only."""
    aborted = send.transaction is not None and send.transaction.aborted_at is not None
    return send.failure is not None or (committed_only and aborted)


def _told(send: NotedSend) -> tuple[object, object]:
    """The evidence that it was sent, and why it must not be read."""
    return send, send.outcome if send.failure is not None else send.transaction


def _backwards(one: Pass) -> Iterator[Anomaly]:
    before: NotedRead | None = None
    for read in one.reads:
        if before is not None and read.place.offset <= before.place.offset:
            yield _anomaly(AnomalyKind.NONMONOTONIC_POLL, read.place, before, read)
        before = read


def _skips(log: ObservedLog, one: Pass) -> Iterator[Anomaly]:
    known = log.readable(one.client.isolation).get(one.partition, [])
    own: set[int] | None = None
    end = one.start
    for read in one.reads:
        offset = read.place.offset
        if end is not None and offset > end:
            # Known offsets between the two reads: none in a clean history, where gaps are markers of transactions.
            for index in range(bisect_left(known, end), len(known)):
                if known[index] >= offset:
                    break
                own = own if own is not None else {other.place.offset for other in one.reads}
                if known[index] not in own:
                    place = Where(*one.partition, known[index])
                    yield _anomaly(AnomalyKind.POLL_SKIP, place, log.reads[place], read)
        end = max(offset + 1, end or 0)


def _send_order(log: ObservedLog, client: ClientHistory) -> Iterator[Anomaly]:
    last: dict[Partition, tuple[NotedSend, Where]] = {}
    for send in client.sends:
        key = (send.topic, send.value)
        place = send.place or (log.found[key].place if key in log.found else None)
        if place is None or len(log.sends[key]) > 1:  # with several attempts it is not known which one was written
            continue
        earlier, its = last.get(place[:2], (send, place))
        if its.offset > place.offset:
            yield _anomaly(AnomalyKind.NONMONOTONIC_SEND, place, earlier, send, f"they stand at {its} and {place}")
        else:
            last[place[:2]] = send, place


def _commits(log: ObservedLog, past: set[Where]) -> Iterator[Anomaly]:
    """Offsets that a group committed before it had read all records below. `past` takes the places of these records."""
    commits = sorted(commit for client in log.clients for commit in client.commits)
    if not commits:
        return
    starts: dict[tuple[str, Partition], int] = {}
    had: dict[str, dict[Where, int]] = defaultdict(dict)  # group -> when it first read each place
    for one in log.passes:
        if one.client.group is not None and (one.reads or one.start is not None):
            start = one.start if one.start is not None else one.reads[0].place.offset
            key = (one.client.group, one.partition)
            starts[key] = min(start, starts.get(key, start))
            moments = had[one.client.group]
            for read in one.reads:
                moments[read.place] = min(read.moment, moments.get(read.place, read.moment))
    reach = {
        group: Reach(one for one in log.passes if one.client.group == group)
        for group in {commit.group for commit in commits}
    }
    known = _known(log, {commit.place[:2] for commit in commits})
    for commit in commits:
        key = (commit.group, commit.place[:2])
        if key not in starts or not _counts(log, commit):
            continue
        offsets = known[commit.place[:2]]
        for index in range(bisect_left(offsets, starts[key]), bisect_left(offsets, commit.place.offset)):
            place = commit.place._replace(offset=offsets[index])
            when = had[commit.group].get(place)
            # A record that a member went past is a skip, and a record that all readers went past is a lost write.
            went = reach[commit.group] if place in log.reads else log.reach
            if when is None and went.beyond(place) is not None:
                continue
            if when is None or when > commit.moment:
                past.add(place)
                yield _anomaly(AnomalyKind.COMMITTED_PAST, place, _seen_at(log, place), commit)
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


def _missing(log: ObservedLog, past: set[Where], read_to_end: bool) -> Iterator[Anomaly]:
    """Acknowledged records that are not at the acknowledged place."""
    for key, attempts in log.sends.items():
        for send in attempts:
            place = send.place
            if place in past or not log.is_kept(send):
                continue
            if place is None:
                if read_to_end and key not in log.found:
                    yield _anomaly(AnomalyKind.UNSEEN, send.unplaced, send, send.outcome)
                continue
            there = log.reads.get(place)
            if there is not None and there.value != send.value:
                yield _anomaly(AnomalyKind.INCONSISTENT_OFFSET, place, send.outcome, there)
            elif key in log.found:
                if there is None and len(attempts) == 1:
                    yield _anomaly(AnomalyKind.INCONSISTENT_OFFSET, place, send.outcome, log.found[key])
            elif (beyond := log.reach.beyond(place)) is not None:
                yield _anomaly(AnomalyKind.LOST_WRITE, place, send, send.outcome, beyond)
            elif read_to_end:
                yield _anomaly(AnomalyKind.UNSEEN, place, send, send.outcome)


def _anomaly(kind: AnomalyKind, place: Where | str, *evidence: object) -> Anomaly:
    return Anomaly(kind, str(place), tuple(map(str, evidence)))
