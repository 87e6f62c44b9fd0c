"""Steady: clients that repeat one activity and note what they see, while incidents come and go.

Rules:
* Notes of a client: "ok", the name of an error, "late" (it took more than LATE), "rebalanced", "throttled".
* A reader that does not recover is replaced, as a restarted application would be: "made anew". Once a heartbeat of
  aiokafka has failed by an error that it does not know, every second poll fails by that error for good (seen with
  Python 3.13). A reader whose library call does not return is interrupted (kafka-python's poll loops forever after a
  broken batch).
* Records for readers are produced directly to the brokers, so that faults affect only the readers' own connections.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count

from confluent_kafka import Producer

from tests.real.incidents.sides import PARTITIONS, Library
from tests.real.records import patiently
from tests.real.topics import create, settings
from tests.real.way import Way

LATE = 1.0  # seconds
STUCK = 12.0  # seconds without two polls in a row that went well; more than SESSION
PAUSE = 0.1  # seconds between two operations of a client


class StuckError(Exception):
    """Raised in the thread of an activity whose library call does not return."""


class Activity(threading.Thread):
    """One activity that one client repeats."""

    def __init__(self, kind: str, library: Library, way: Way, topic: str) -> None:
        super().__init__(name=f"{library.name} {kind}", daemon=True)
        self.kind, self.library = kind, library
        self._way, self._topic = way, topic
        self._notes: list[str] = []
        self._ends = threading.Event()
        self._went = time.monotonic()  # when it last succeeded
        self._well = time.monotonic()  # when it last did so twice in a row

    @property
    def moment(self) -> int:
        """The number of its notes so far."""
        return len(self._notes)

    def since(self, moment: int) -> set[str]:
        """Its notes since this moment."""
        return set(self._notes[moment:])

    def goes_well(self, moment: int) -> bool:
        """Whether its last two notes since this moment are "ok"."""
        return self._notes[moment:][-2:] == ["ok", "ok"]

    def interrupt(self) -> None:
        """Interrupt its library call, if it has not succeeded for a long time."""
        if self.ident is not None and time.monotonic() - self._went > 2 * STUCK:
            self._went = time.monotonic()
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self.ident), ctypes.py_object(StuckError))

    def end(self) -> None:
        self._ends.set()

    def run(self) -> None:
        while not self._ends.is_set():
            try:
                if self.kind == "reads":
                    self._read()
                else:
                    self._send()
            except Exception as error:
                self._notes.append(self.library.seen(error))
                self._ends.wait(PAUSE)

    def _send(self) -> None:
        library, number = self.library, 0
        made = (
            library.sender(self._way, self._topic)
            if self.kind == "sends"
            else library.transactor(self._way, self._topic, f"incident-{library.name}")
        )
        with made as sender:
            told, self._went = 0, time.monotonic()
            while not self._ends.wait(PAUSE):
                number += 1
                try:
                    sender.send(b"%d" % number, number % PARTITIONS)
                except Exception as error:
                    if self.kind == "transacts":
                        raise  # this producer ends, and a new one takes its place
                    self._notes.append(library.seen(error))
                else:
                    if sender.throttles > told:
                        told = sender.throttles
                        self._notes.append("throttled")
                    self._went_well()

    def _read(self) -> None:
        library = self.library
        with library.reader(self._way, self._topic, f"incident-{library.name}") as reader:
            told, self._went = 0, time.monotonic()
            self._well = self._went
            while not self._ends.is_set():
                if time.monotonic() - self._well > STUCK:
                    self._notes.append("made anew")
                    return
                try:
                    if reader.poll():
                        reader.commit()
                        self._went_well()
                except StuckError:
                    self._notes.append("made anew")
                    return
                except Exception as error:
                    self._notes.append(library.seen(error))
                    self._ends.wait(PAUSE)
                if reader.rebalances > told:
                    told = reader.rebalances
                    self._notes.append("rebalanced")

    def _went_well(self) -> None:
        now = time.monotonic()
        if self._notes[-1:] == ["ok"]:
            self._well = now
        if now - self._went > LATE:
            self._notes.append("late")
        self._went = now
        self._notes.append("ok")


class Activities:
    """All activities of some clients."""

    def __init__(self, all_of_them: Sequence[Activity]) -> None:
        self._all = all_of_them

    def of(self, client: str) -> Activities:
        """The activities of one client."""
        return Activities([activity for activity in self._all if activity.library.name == client])

    def moments(self) -> dict[Activity, int]:
        return {activity: activity.moment for activity in self._all}

    def see(self, kind: str, wanted: Mapping[str, set[str]], moments: Mapping[Activity, int]) -> None:
        """Wait until each activity of this kind has noted one of its wanted names since its moment."""
        for activity in self._all:
            if activity.kind == kind:
                for _ in patiently(f"{activity.name} sees {wanted[activity.library.name]}"):
                    if activity.since(moments[activity]) & wanted[activity.library.name]:
                        break
                    time.sleep(PAUSE)

    def settle(self) -> None:
        """Wait until each activity goes well."""
        moments = self.moments()
        for activity in self._all:
            for _ in patiently(f"{activity.name} goes on"):
                if activity.goes_well(moments[activity]):
                    break
                if activity.kind == "reads":
                    activity.interrupt()
                time.sleep(PAUSE)


_numbers = count()  # tests of one run share a cluster, so each has its own topics


@contextmanager
def steady(libraries: Sequence[Library], direct: Way, ways: Mapping[str, Way]) -> Iterator[Activities]:
    """Run all activities of all clients, each client on its own way, once all go well."""
    ends = threading.Event()
    activities = []
    number = next(_numbers)
    for library in libraries:
        way = ways[library.name]
        for kind in ("sends", "reads", "transacts"):
            topic = create(way, f"incident-{number}-{library.name}-{kind}", PARTITIONS)
            activities.append(Activity(kind, library, way, topic))
    read = [activity._topic for activity in activities if activity.kind == "reads"]
    feeding = threading.Thread(target=_feed, args=(direct, read, ends), daemon=True)
    with ExitStack() as stack:
        stack.callback(ends.set)
        feeding.start()
        for activity in activities:
            activity.start()
            stack.callback(activity.end)
        found = Activities(activities)
        found.settle()
        yield found
    for activity in activities:
        activity.join(30)
    feeding.join(30)


def _feed(direct: Way, topics: Sequence[str], ends: threading.Event) -> None:
    producer, number = Producer(settings(direct, linger_ms=0)), 0
    while not ends.wait(PAUSE):
        number += 1
        for topic in topics:
            producer.produce(topic, b"%d" % number, partition=number % PARTITIONS)
        producer.poll(0)
    producer.flush(10)
