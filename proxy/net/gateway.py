"""Gateway: one worker. Its clusters, the reactor and the limits, from the first port to the last answer.

Rules:
* The ports in front of a cluster open as soon as its brokers are known, and it is said at once. The gateway is ready
  when those of all clusters are open.
* Drain: no port accepts, requests in flight are answered, and after `limits.drain` what is left is cut.
* Nothing that a broker, a client, a file or another worker says ends it: what fails outside a link is a task that is
  begun again (`tasks.py`). Only what keeps it from starting does (StartError).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from functools import partial

import structlog
import trio

from proxy import logs
from proxy.config import Config
from proxy.core.limits import Counters as LinkCounters
from proxy.net.arrivals import Worker
from proxy.net.asking import new_mark
from proxy.net.authorities import Authorities, Speakers
from proxy.net.channel import Learned
from proxy.net.complaints import Complaints
from proxy.net.conversation import Conversation
from proxy.net.exposure import Tell
from proxy.net.hosted import PluginHost
from proxy.net.limits import enforce
from proxy.net.machine import memory_of_worker
from proxy.net.process import Ending, Started
from proxy.net.reactor import Reactor
from proxy.net.resolving import Resolver
from proxy.net.served import Served
from proxy.net.tasks import Tasks
from proxy.net.telling import Telling
from proxy.telemetry.counters import NetworkCounters
from proxy.telemetry.report import Report, Reports

log = structlog.get_logger()


class Gateway:
    """Everything that one worker does.

    `tell`: other workers listen on the same ports, and learn brokers by it. `mark` is theirs, too: see `loops.py`.
    `number`: of this worker among them.
    """

    def __init__(self, config: Config, *, tell: Tell | None = None, mark: str | None = None, number: int = 0) -> None:
        self.config = config
        self.counters = NetworkCounters()
        self.link_counters = LinkCounters()
        self.ending = Ending("connections")
        self._complaints = Complaints()
        self.tasks = Tasks(self.counters, self._complaints)
        self.ready = False
        self._reactor = Reactor(self._ended, Telling(self._complaints), self._complaints, memory_of_worker(config))
        self._left = trio.Event()  # set when a link is over
        self._accepting = trio.CancelScope()
        self._authorities = Authorities(config)
        worker = self._worker = Worker(
            config.limits,
            self._reactor,
            self.tasks,
            self.counters,
            self.link_counters,
            self._complaints,
            mark or new_mark(),
            PluginHost(number, self._reactor.clock, self.tasks),
        )
        speakers = Speakers(config)
        self._served = {
            name: Served(name, config, worker, self._authorities, speakers, tell) for name in config.clusters
        }

    def stop(self) -> None:
        """Accept no more, let requests in flight be answered, and let `run` return."""
        self.ready = False
        self._accepting.cancel()

    async def run(self, started: Started) -> None:
        """Serve until `stop`; `started` is called each time that the ports in front of a cluster are open."""
        keep = self.tasks.keep
        trio.socket.set_custom_hostname_resolver(Resolver())
        async with trio.open_nursery() as nursery:
            await nursery.start(self._reactor.run)
            nursery.start_soon(keep, "watching credentials", partial(self._authorities.watch, self.tasks))
            limits, conversations = self.config.limits, self._reactor.conversations
            nursery.start_soon(keep, "enforcing limits", partial(enforce, limits, conversations, self.counters))
            nursery.start_soon(keep, "watching what is held", self._reactor.budget.watch)
            nursery.start_soon(keep, "summing up complaints", self._complaints.watch)
            for served in self._served.values():
                for hosted in served.hosted:
                    await nursery.start(hosted.run)
            with self._accepting:
                await self._accept(started)
            await self._drain()
            self._complaints.sum_up()
            nursery.cancel_scope.cancel()

    async def _accept(self, started: Started) -> None:
        async with trio.open_nursery() as self._worker.dialling, trio.open_nursery() as nursery:
            for served in self._served.values():
                nursery.start_soon(served.run)
                nursery.start_soon(self._say_when_open, served, started)

    async def _say_when_open(self, served: Served, started: Started) -> None:
        await served.opened.wait()
        self.ready = all(each.opened.is_set() for each in self._served.values())
        with self.tasks.contained("saying that ports are open"):
            started(self.report())

    def learn(self, learned: Learned) -> None:
        """Another worker saw a broker."""
        served = self._served.get(learned.cluster)
        if served is not None:
            served.exposure.learn(learned)

    def _ended(self, conversation: Conversation, reason: str | None) -> None:
        """A link is over, and its sockets are closed."""
        self.counters.open -= 1
        self.counters.ended_by_fault += reason is not None and conversation.is_fault
        self._left.set()
        with self.tasks.contained("telling of an end"):
            facts = conversation.link.connection.facts()
            if reason is None:
                log.debug("connection closed", **facts)
            else:
                about = facts["listener"], conversation.link.connection.whose
                write = log.warning if conversation.is_fault else log.info
                self._complaints.tell(write, "connection ended", about, reason, why=reason, **facts)

    async def _drain(self) -> None:
        """Let what is in flight be answered; cut what is not in time."""
        conversations, seconds = self._reactor.conversations, self.config.limits.drain
        self.ending.there = len(conversations)
        self._reactor.drain()
        if conversations:
            log.info("draining", connections=len(conversations), within=f"{seconds:g}s")
        with trio.move_on_after(seconds):
            while conversations:
                self._left = trio.Event()
                await self._left.wait()
        self.counters.cut_by_drain += len(conversations)
        self.cut()
        for conversation in list(conversations):
            self._reactor.end(conversation, f"not answered within {seconds:g} s (limits.drain)")

    def cut(self) -> None:
        """Connections that are open still end now."""
        self.ending.cut += len(self._reactor.conversations)

    async def reports(self) -> Reports:
        """This worker is the only one."""
        return {0: self.report()}

    def report(self) -> Report:
        """What this worker says about itself."""
        reading = asdict(self.counters) | asdict(self.link_counters)
        reading["bytes_from_clients"] = self._reactor.bytes_from_clients
        reading["bytes_from_brokers"] = self._reactor.bytes_from_brokers
        budget = self._reactor.budget
        reading |= {"held": budget.held, "paused_for_memory": budget.pauses, "ended_for_memory": budget.ends}
        reading["log_lines_left_out"] = self._complaints.left_out
        reading["log_lines_not_taken"] = logs.dropped()
        served = self._served.values()
        reading |= sum((each.counted() for each in served), Counter())
        reading["brokers"] = sum(len(each.upstream.brokers) for each in served)
        clusters = {
            each.name: {str(node_id): str(endpoint) for node_id, endpoint in each.upstream.brokers.items()}
            for each in served
        }
        listening = {
            listener.name: {str(node_id): port for node_id, port in listener.ports.items()}
            for each in served
            if each.opened.is_set()
            for listener in each.exposure.listeners
        }
        return Report(self.ready, listening, clusters, reading, self._worker.host.counters.counted())
