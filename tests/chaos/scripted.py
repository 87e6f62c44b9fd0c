"""Generated histories: a clean one for each seed, as a script of notes, and anomalies to plant in it.

A script is a list of steps that write and read a log as a broker would keep it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, NamedTuple

from chaos.anomalies import AnomalyKind
from chaos.history import History
from chaos.notes import ClientHistory, NotedSend, NotedTransaction

TOPIC = "orders"


class Step(NamedTuple):
    """One note: its kind, its client, and its values."""

    kind: str
    client: str
    value: Any = None
    partition: int = 0
    offset: int = 0
    transaction: str | None = None


Script = list[Step]


def clean(seed: int, records: int = 60) -> Script:
    """A script of two producers, one of them transactional, a group of two members, and two readers of all records.

    The reader `curious` reads uncommitted records too; `auditor` reads only committed ones.
    """
    dice = Random(seed)
    log: dict[int, list[tuple[Any, bool] | None]] = {0: [], 1: []}  # value and whether it is committed; None: a marker
    script: Script = []
    values = iter(range(10**6))

    def write(client: str, transaction: str | None, committed: bool) -> None:
        value, partition = f"order-{next(values)}", dice.randrange(2)
        script.append(Step("send", client, value, transaction=transaction))
        fate = dice.random()
        if fate < 0.05 and transaction is None:
            script.append(Step("fail", client, value))
            return
        if fate < 0.1 and transaction is None:  # no acknowledgement and no error: the record may be there
            if dice.random() < 0.5:
                log[partition].append((value, True))
            return
        log[partition].append((value, committed))
        script.append(Step("ack", client, value, partition, len(log[partition]) - 1))

    outcomes = [True, False]  # at least one transaction is committed, and one is aborted
    while next(values) < records or outcomes:
        if dice.random() < 0.7:
            write("plain", None, True)
            continue
        transaction, committed = f"t{len(script)}", outcomes.pop() if outcomes else dice.random() < 0.6
        script.append(Step("begin", "exact", transaction))
        for _ in range(dice.randrange(1, 4)):
            write("exact", transaction, committed)
        if committed:
            script.append(Step("commits", "exact", transaction))
            script += [Step("committed", "exact", transaction)] * (dice.random() < 0.8)  # else the response is lost
        else:
            script.append(Step("aborted", "exact", transaction))
        for entries in log.values():
            entries.append(None)
    for value in ("last-0", "last-1"):  # so that no other record is the last of its partition
        partition = int(value[-1])
        script.append(Step("send", "plain", value))
        log[partition].append((value, True))
        script.append(Step("ack", "plain", value, partition, len(log[partition]) - 1))
    readings = [list(_group(log[p], f"member-{p}", p, dice)) for p in log]
    readings.append([step for p in log for step in _all(log[p], "curious", p, committed_only=False)])
    readings.append([step for p in log for step in _all(log[p], "auditor", p, committed_only=True)])
    while any(readings):
        reading = dice.choice([steps for steps in readings if steps])
        script.append(reading.pop(0))
    return script


def _group(entries: list[Any], member: str, partition: int, dice: Random) -> Iterator[Step]:
    for step in _all(entries, member, partition, committed_only=True):
        yield step
        if step.kind == "read" and dice.random() < 0.2:
            yield Step("commit", member, None, partition, step.offset + 1)
            if dice.random() < 0.2:  # it restarts at its committed offset
                yield Step("from", member, None, partition, step.offset + 1)


def _all(entries: list[Any], reader: str, partition: int, *, committed_only: bool) -> Iterator[Step]:
    yield Step("from", reader, None, partition, 0)
    for offset, entry in enumerate(entries):
        if entry is not None and (entry[1] or not committed_only):
            yield Step("read", reader, entry[0], partition, offset)


def played(script: Script) -> History:
    """The history with the notes of this script."""
    history = History()
    clients: dict[str, ClientHistory] = {}
    sends: dict[Any, NotedSend] = {}
    transactions: dict[str, NotedTransaction] = {}
    for kind, name, value, partition, offset, transaction in script:
        if name not in clients:
            group = "billing" if name.startswith("member") else None
            isolation = "read_uncommitted" if name == "curious" else "read_committed"
            clients[name] = history.client(name, group=group, isolation=isolation)  # type: ignore[arg-type]
        client = clients[name]
        if kind == "send":
            within = transactions[transaction] if transaction else None
            sends[value] = within.send(TOPIC, value) if within else client.send(TOPIC, value)
        elif kind == "ack":
            sends[value].acknowledged(partition, offset)
        elif kind == "fail":
            sends[value].failed("INVALID_RECORD")
        elif kind == "begin":
            transactions[value] = client.begin()
        elif kind in ("commits", "committed", "aborted"):
            getattr(transactions[value], kind)()
        elif kind == "from":
            client.reads_from(TOPIC, partition, offset)
        elif kind == "read":
            client.read(TOPIC, partition, offset, value)
        else:
            client.commit(TOPIC, partition, offset)
    return history


def _acknowledged(script: Script, dice: Random) -> Step:
    """The acknowledgement of a record that is not its partition's last, and that all three readers read."""
    read = Counter(step.value for step in script if step.kind == "read")
    return dice.choice(
        [
            step
            for step in script
            if (step.kind, step.client) == ("ack", "plain")
            and read[step.value] == 3
            and not str(step.value).startswith("last")
        ]
    )


def _reads_of(script: Script, value: Any) -> list[int]:
    return [index for index, step in enumerate(script) if step.kind == "read" and step.value == value]


def lost(script: Script, dice: Random) -> None:
    value = _acknowledged(script, dice).value
    script[:] = [step for step in script if not (step.kind == "read" and step.value == value)]


def unseen(script: Script, dice: Random) -> None:
    script.append(Step("send", "plain", "after-all"))
    script.append(Step("ack", "plain", "after-all", 0, 10**6))


def duplicate(script: Script, dice: Random) -> None:
    """A record occurs again, at the end of the log."""
    value = _acknowledged(script, dice).value
    script += [Step("read", name, value, 0, 10**6) for name in ("member-0", "curious", "auditor")]


def replaced(script: Script, dice: Random) -> None:
    """Another leader has another record at this offset, from a send without an acknowledgement."""
    ack = _acknowledged(script, dice)
    script.insert(0, Step("send", "stray", "stray"))
    for index in _reads_of(script, ack.value):
        script[index] = script[index]._replace(value="stray")


def sent_in_another_order(script: Script, dice: Random) -> None:
    """Two records of one producer swap their places in the log."""
    acks = [step for step in script if step.kind == "ack" and step.partition == 0 and step.client == "plain"]
    read = Counter(step.value for step in script if step.kind == "read")
    one, other = sorted(dice.sample([step for step in acks if read[step.value] == 3], 2), key=lambda step: step.offset)
    swapped = {one.value: other, other.value: one}
    for index, step in enumerate(script):
        if step.kind == "ack" and step.value in swapped:
            script[index] = step._replace(offset=swapped[step.value].offset)
        elif step.kind == "read" and step.value in swapped:
            script[index] = step._replace(value=swapped[step.value].value)


def read_backwards(script: Script, dice: Random) -> None:
    index = dice.choice(_reads_of(script, _acknowledged(script, dice).value))
    script.insert(index, script[index])


def skipped(script: Script, dice: Random) -> None:
    """A reader outside the group skips a record. A member might commit next: that would be COMMITTED_PAST."""
    reads = _reads_of(script, _acknowledged(script, dice).value)
    del script[dice.choice([index for index in reads if not script[index].client.startswith("member")])]


def read_though_aborted(script: Script, dice: Random) -> None:
    aborted = {step.value for step in script if step.kind == "aborted"}
    values = {step.value for step in script if step.kind == "send" and step.transaction in aborted}
    step = dice.choice([step for step in script if step.kind == "read" and step.value in values])
    script.insert(_position(script, "auditor", step), step._replace(client="auditor"))


def read_before_its_commit(script: Script, dice: Random) -> None:
    """A reader read a record between its acknowledgement and the commit."""
    committed = {step.value for step in script if step.kind == "commits"}
    values = {step.value for step in script if step.kind == "send" and step.transaction in committed}
    acks = [index for index, step in enumerate(script) if step.kind == "ack" and step.value in values]
    index = dice.choice(acks)
    script.insert(index + 1, script[index]._replace(kind="read", client="early"))
    script.insert(index + 1, script[index]._replace(kind="from", client="early"))


def of_nobody(script: Script, dice: Random) -> None:
    script += [Step("read", name, "garbage", 1, 10**6) for name in ("member-1", "curious", "auditor")]


def committed_past(script: Script, dice: Random) -> None:
    """A member commits what it has not read yet."""
    commits = [index for index, step in enumerate(script) if step.kind == "commit"]
    index = dice.choice(commits)
    later = next(
        (step for step in script[index:] if step.kind == "read" and step.client == script[index].client),
        None,
    )
    script[index] = script[index]._replace(offset=(later or script[index]).offset + 1)
    if later is None:  # the member had read all records, so the log gets one more
        partition = script[index].partition
        script.append(Step("commit", f"member-{partition}", None, partition, 10**6))
        script += [Step("send", "plain", "too-late"), Step("ack", "plain", "too-late", partition, 10**6 - 1)]


def _position(script: Script, client: str, like: Step) -> int:
    """The index for a read in the script, so that the client reads in order."""
    for index, step in enumerate(script):
        if (step.kind, step.client, step.partition) == ("read", client, like.partition) and step.offset > like.offset:
            return index
    raise AssertionError("nothing is read after it")


PLANTED: dict[AnomalyKind, Callable[[Script, Random], None]] = {
    AnomalyKind.LOST_WRITE: lost,
    AnomalyKind.UNSEEN: unseen,
    AnomalyKind.DUPLICATE: duplicate,
    AnomalyKind.INCONSISTENT_OFFSET: replaced,
    AnomalyKind.NONMONOTONIC_SEND: sent_in_another_order,
    AnomalyKind.NONMONOTONIC_POLL: read_backwards,
    AnomalyKind.POLL_SKIP: skipped,
    AnomalyKind.ABORTED_READ: read_though_aborted,
    AnomalyKind.PRECOMMITTED_READ: read_before_its_commit,
    AnomalyKind.UNSENT: of_nobody,
    AnomalyKind.COMMITTED_PAST: committed_past,
}
