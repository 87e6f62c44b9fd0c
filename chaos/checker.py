"""The checker: finds the anomalies in a history. Its time is n log n in the number of notes.

Rules:
* An open question in the notes is no anomaly: a send that was never answered may have been written or not.
* A place is reported once for each kind, however many clients saw it.
* One fault is reported once, as the most specific kind. A record that its group committed past is not reported as
  unseen too. Nor is a record reported as lost if its place holds another value.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence

from chaos.anomalies import Anomaly, AnomalyKind
from chaos.commits import committed_past
from chaos.log import ObservedLog, Partition, Pass
from chaos.notes import ClientHistory, NotedRead, NotedSend, Where


def check(clients: Sequence[ClientHistory], read_to_end: bool, compacted: Collection[str] = ()) -> Iterator[Anomaly]:
    """All anomalies. `read_to_end`: an acknowledged record that no client read is one too.

    `compacted`: the topics of which brokers take records away (`compaction.py`).
    """
    told = set[tuple[AnomalyKind, str]]()
    for anomaly in _all(ObservedLog(clients, compacted), read_to_end):
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
    yield from committed_past(log, past)
    yield from _missing(log, past, read_to_end)


def _read(log: ObservedLog, read: NotedRead) -> Iterator[Anomaly]:
    """Anomalies of one read: another value was read at this place, or this value must not be read here."""
    first = log.reads[read.place]
    if first.value != read.value:
        yield Anomaly.at(AnomalyKind.INCONSISTENT_OFFSET, read.place, first, read)
    attempts = log.sends.get((read.place.topic, read.value))
    if attempts is None:
        if read.place.topic in log.topics:
            yield Anomaly.at(AnomalyKind.UNSENT, read.place, read)
        return
    committed_only = read.client.isolation == "read_committed"
    written = [send for send in attempts if send.place == read.place] or [
        send for send in attempts if send.place is None
    ]
    dead = [send for send in written if _is_dead(send, committed_only)]
    if written and len(dead) == len(written):
        log.struck.add(read.place)
        yield Anomaly.at(AnomalyKind.ABORTED_READ, read.place, *_told(dead[0]), read)
        return
    early = [send for send in written if committed_only and _is_open(send, read.moment)]
    if early and all(_is_open(send, read.moment) or _is_dead(send, True) for send in written):
        log.struck.add(read.place)
        yield Anomaly.at(AnomalyKind.PRECOMMITTED_READ, read.place, early[0], read, early[0].transaction)
        return
    elsewhere = _elsewhere(log, read, attempts)
    if elsewhere is not None:
        yield Anomaly.at(AnomalyKind.DUPLICATE, read.place, attempts[0], elsewhere, read)


def _elsewhere(log: ObservedLog, read: NotedRead, attempts: Sequence[NotedSend]) -> NotedRead | None:
    """A read of the same value at another place, if both records must not be there."""
    key = read.place.topic, read.value
    if read.client.isolation == "read_committed" and log.found_committed[key].place != read.place:
        return log.found_committed[key]
    if any(_is_dead(send, True) for send in attempts):
        return None
    if len(attempts) > 1 and not all(map(log.is_committed, attempts)):
        return None  # one of them may be aborted, and its record stays in the log
    return log.found[key] if log.found[key].place != read.place else None


def _is_open(send: NotedSend, moment: int) -> bool:
    """Whether its transaction was not committed at this moment: nobody had begun to commit it."""
    transaction = send.transaction
    return transaction is not None and (transaction.committing is None or transaction.committing > moment)


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
            yield Anomaly.at(AnomalyKind.NONMONOTONIC_POLL, read.place, before, read)
        before = read


def _skips(log: ObservedLog, one: Pass) -> Iterator[Anomaly]:
    known = log.readable(one.client.isolation).get(one.partition, [])
    own: set[int] | None = None
    end = one.start
    for read in one.reads:
        offset = read.place.offset
        if offset > end:
            # Known offsets between the two reads: none in a clean history, where gaps are markers of transactions.
            for index in range(bisect_left(known, end), len(known)):
                if known[index] >= offset:
                    break
                own = own if own is not None else {other.place.offset for other in one.reads}
                if known[index] not in own:
                    place = Where(*one.partition, known[index])
                    if place in log.gone:
                        continue
                    yield Anomaly.at(AnomalyKind.POLL_SKIP, place, log.reads[place], read)
        end = max(offset + 1, end)


def _send_order(log: ObservedLog, client: ClientHistory) -> Iterator[Anomaly]:
    last: dict[Partition, tuple[NotedSend, Where]] = {}
    for send in client.sends:
        key = (send.topic, send.value)
        place = log.place_of(send)
        if place is None or len(log.sends[key]) > 1:  # with several attempts it is not known which one was written
            continue
        earlier, its = last.get(place[:2], (send, place))
        if its.offset > place.offset:
            yield Anomaly.at(AnomalyKind.NONMONOTONIC_SEND, place, earlier, send, f"they stand at {its} and {place}")
        else:
            last[place[:2]] = send, place


def _missing(log: ObservedLog, past: set[Where], read_to_end: bool) -> Iterator[Anomaly]:
    """Acknowledged records that are not at the acknowledged place."""
    for key, attempts in log.sends.items():
        for send in attempts:
            place = send.place
            if place in past or not log.is_kept(send):
                continue
            if place is None:
                if read_to_end and key not in log.found and send not in log.superseded:
                    yield Anomaly.at(AnomalyKind.UNSEEN, send.unplaced, send, send.outcome)
                continue
            there = log.reads.get(place)
            if there is not None and there.value != send.value:
                yield Anomaly.at(AnomalyKind.INCONSISTENT_OFFSET, place, send.outcome, there)
            elif key in log.found:
                if there is None and len(attempts) == 1:
                    yield Anomaly.at(AnomalyKind.INCONSISTENT_OFFSET, place, send.outcome, log.found[key])
            elif send in log.superseded:
                continue
            elif (beyond := log.reach.beyond(place)) is not None:
                yield Anomaly.at(AnomalyKind.LOST_WRITE, place, send, send.outcome, beyond)
            elif read_to_end:
                yield Anomaly.at(AnomalyKind.UNSEEN, place, send, send.outcome)
