"""Faults: the proxy gives clients the failures that real brokers have, by rules, reproducibly.

    - faults: {rules: faults.yaml}

Rules:
* A request is matched when it comes. An effect on its answer is applied when the answer comes, and fires at that time.
* Faults are tried in the order of the file, each on the request as the earlier ones left it. An effect that answers the
  request, or ends the connection, is the last.
* A fault that cannot be applied to a request (no such field in that version) does not fire: the ledger says why.
* The file is read again when it changes. A fault that is unchanged keeps its counts. A bad file changes nothing.
* While the proxy runs, faults may be added to those of the file (`overlay.py`).
* Only requests that a fault may be about are read (`fast_path.py`); all others pass unread.

`model.py` declares the file, `effects` has the effects. The package `rules` matches requests and says when faults fire.
All workers count together: "three times" means three in total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import GeneratorType
from typing import Any

from pydantic import Field

from plugins.faults.fast_path import FaultsFastPath
from plugins.faults.fault_set import NamedFault
from plugins.faults.in_force import FaultsInForce
from plugins.faults.ledger import Ledger
from plugins.faults.model import FORM
from plugins.faults.on_requests import RequestFaults
from plugins.faults.overlay import Overlay, load
from plugins.faults.questions import FaultQuestions
from plugins.faults.replay import BadReplayError, RecordingEndedError, Replay
from proxy.plugin import (
    Api,
    Arrival,
    Decision,
    FilePath,
    Finding,
    Handler,
    Plugin,
    PluginError,
    Problem,
    Request,
    Response,
    Services,
    Steps,
    Wish,
)
from rules.conditions import Client
from rules.hosts import java_text

FLUSH = 0.5  # seconds between two writes of recorded firings


class Faults(Plugin):
    """Applies the faults of a file and of run time. Raises BadFileError for a bad file."""

    class Options(Plugin.Options):
        """Which faults there are."""

        rules: FilePath | None = Field(
            default=None,
            description="The file of faults, read again when it changes. A path is relative to this file."
            " Without it, the only faults are those that are added while the proxy runs.",
            examples=["faults.yaml"],
        )

    @staticmethod
    def examine(options: Faults.Options) -> Iterator[Finding | Problem]:
        """Everything that is wrong with the file of faults."""
        if options.rules is None:
            return
        for problem in FORM.read(options.rules).result()[1]:
            if problem.place is None:
                yield Finding(("rules",), f"{options.rules}: {problem.message}", problem.warning)
            else:
                yield problem

    def __init__(self, options: Options, services: Services) -> None:
        super().__init__(options, services)
        file = None if options.rules is None else services.watch("faults", options.rules, load)
        self._overlay = Overlay(file, services.state)
        self._replay = _replay()
        if self._replay.is_recording:
            services.every(FLUSH, self._record)
        self._in_force = FaultsInForce(self._overlay, services, self._replay)
        self._on_requests = RequestFaults(self._in_force, services)
        self._fast_path = FaultsFastPath(self._on_requests.key, self._in_force, services.topics)
        self._questions = FaultQuestions(self._overlay, self._in_force, services)

    def stop(self) -> None:
        """Write all recorded firings to disk, and give up the counts."""
        self._record()
        self._in_force.end()

    def _record(self) -> None:
        """Write the firings that are not written yet."""
        try:
            self._replay.flush()
        except RecordingEndedError as error:
            file, why = error.args
            way_out = "make room, and begin the recorded run anew"
            self.services.tell("recording ended", level="error", file=str(file), why=why, way_out=way_out)

    def replaced(self) -> None:
        """Release all held requests and answers."""
        self._in_force.releases.release_all()

    @property
    def ledger(self) -> Ledger:
        """The firings, and the near misses."""
        return self._in_force.ledger

    def prepare_state(self, state: Any) -> Callable[[], None]:
        """Read other faults of run time."""
        put = self._overlay.prepare(state)

        def take() -> None:
            put()
            self._in_force.follow()  # at once: the next state may come before the next request

        return take

    def query(self, question: str, said: Any) -> Any:
        """Answer what `questions.py` lists."""
        return self._questions.answer(question, said)

    def accepted(self, arrival: Arrival) -> Decision | Steps:
        """Apply the faults about new connections, e.g. a broker that is down."""
        faults = self._in_force.of_connections()
        return self._accepted(arrival, faults) if faults else None

    def _accepted(self, arrival: Arrival, faults: Iterable[NamedFault]) -> Steps:
        """Apply these faults, until one ends the connection."""
        host, port = arrival.client
        who = Client("", java_text(host), listener=arrival.listener)
        for name, fault in faults:
            is_meant = fault.match.of_connection(who, arrival.broker_id)
            if not is_meant or not fault.match.is_now(self.services.clock.wall()):
                continue
            if self._in_force.fires(name, fault, None, f"{host}:{port}", arrival.broker_id):
                decision = fault.do.effect.refuse(name)
                if isinstance(decision, GeneratorType):
                    decision = yield from decision
                if decision is not None:
                    return decision  # type: ignore[return-value]
        return None

    @property
    def reads(self) -> frozenset[Api]:
        """The APIs that the present faults are about."""
        return self._in_force.apis

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        """Handlers for both sides of each API that faults are about. The last handler gets a response first."""
        on, fast_path = self._on_requests, self._fast_path
        for api in self._in_force.apis:
            request, response = Wish(Request, api.request, None), Wish(Response, api.response, None)
            yield Handler(on.request, request, position, fast_path=fast_path)
            yield Handler(on.leave, request, position, on.leaves_oddly, fast_path)
            yield Handler(on.leave, response, position, on.leaves_oddly, unneeded_after=fast_path)
            yield Handler(on.response, response, position, on.is_pending, unneeded_after=fast_path)


def _replay() -> Replay:
    """The replay and recording that the environment asks for. Raises PluginError."""
    try:
        return Replay()
    except BadReplayError as error:
        raise PluginError(str(error)) from None
