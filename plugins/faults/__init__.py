"""Faults: what brokers do to clients on a bad day, done by rules, the same each time.

    - faults: {rules: faults.yaml}

Rules:
* A request is matched when it comes. What is done to its answer is done when that comes, and counts as a firing then.
* Faults are tried in the order of the file. What one leaves of a request the next is tried on; an answer of ours and an
  end of the connection are the last.
* A fault that cannot be applied to a request (no such field in that version) has not fired: the ledger says why.
* The file is read again when it changes; a fault that stays as it is goes on counting. A bad file changes nothing.
* Only requests of APIs that the file's faults are about are read; of all others the bytes flow on unread.

`model.py` is what stands in the file, `effects` what each effect does; `rules` how requests are matched and when faults
fire. Counters are each worker's own: with several workers "three times" means three in each.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic import Field

from plugins.faults.in_force import FaultsInForce
from plugins.faults.ledger import Ledger
from plugins.faults.model import FORM
from plugins.faults.on_requests import RequestFaults
from proxy.plugin import (
    Api,
    Arrival,
    Decision,
    FilePath,
    Finding,
    Handler,
    Plugin,
    Problem,
    Request,
    Response,
    Services,
    Wish,
)
from rules.conditions import Client
from rules.hosts import java_text


class Faults(Plugin):
    """Do what the file of faults says. Raises BadFileError for a bad file."""

    class Options(Plugin.Options):
        """Which faults there are."""

        rules: FilePath = Field(
            description="The file of faults, read again when it changes. A path is relative to this file.",
            examples=["faults.yaml"],
        )

    @staticmethod
    def examine(options: Faults.Options) -> Iterator[Finding | Problem]:
        """What is wrong with the file of faults."""
        for problem in FORM.read(options.rules).result()[1]:
            if problem.place is None:
                yield Finding(("rules",), f"{options.rules}: {problem.message}", problem.warning)
            else:
                yield problem

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        self._in_force = FaultsInForce(services.watch("faults", options.rules, FORM.load), services)
        self._on_requests = RequestFaults(self._in_force, services)
        if services.worker == 1:  # the second of several
            way_out = "say workers: 1 where a fault is to fire so often and no more"
            services.tell("each worker counts the faults for itself", level="warning", way_out=way_out)

    @property
    def ledger(self) -> Ledger:
        """What the faults did, and what came near."""
        return self._in_force.ledger

    def release(self) -> None:
        """Let go on whatever faults hold at this moment. From any thread."""
        self._in_force.release()

    def accepted(self, arrival: Arrival) -> Decision:
        """A client comes to a broker that may be down."""
        faults = self._in_force.of_connections()
        if not faults:
            return None
        host, port = arrival.client
        who, at = Client("", java_text(host), listener=arrival.listener), self.services.clock.wall()
        for name, fault in faults:
            if fault.match.of_connection(who, arrival.broker_id, at) and self._in_force.fires(
                name, fault, None, f"{host}:{port}", arrival.broker_id
            ):
                return fault.do.effect.refuse(name)
        return None

    @property
    def reads(self) -> frozenset[Api]:
        """The APIs that faults are about, as their file is now."""
        return self._in_force.apis

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        """Those of each side of each API that faults are about. Responses come to the last one first."""
        on = self._on_requests
        for api in self._in_force.apis:
            request, response = Wish(Request, api.request, None), Wish(Response, api.response, None)
            yield Handler(on.request, request, position)
            yield Handler(on.leave, request, position, on.leaves_oddly)
            yield Handler(on.leave, response, position, on.leaves_oddly)
            yield Handler(on.response, response, position, on.is_pending)
