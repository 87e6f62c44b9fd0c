"""Faults: what brokers do to clients on a bad day, done by rules, the same each time.

    - faults: {rules: faults.yaml}

Rules:
* A request is matched when it comes. What is done to its answer is done when that comes, and counts as a firing then.
* Faults are tried in the order of the file. What one leaves of a request the next is tried on; an answer of ours and an
  end of the connection are the last.
* A fault that cannot be applied to a request (no such field in that version) has not fired: the ledger says why.
* The file is read again when it changes; a fault that stays as it is goes on counting. A bad file changes nothing.
* Faults may be added beside those of the file while the proxy runs (`overlay.py`).
* Only requests that a fault may be about are read (`fast_path.py`); of all others the bytes flow on unread.

`model.py` is what stands in the file, `effects` what each effect does; `rules` how requests are matched and when faults
fire. All workers count together: "three times" means three in total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pydantic import Field

from plugins.faults.fast_path import FaultsFastPath
from plugins.faults.in_force import FaultsInForce
from plugins.faults.ledger import Ledger
from plugins.faults.model import FORM
from plugins.faults.on_requests import RequestFaults
from plugins.faults.overlay import Overlay, load
from plugins.faults.questions import FaultQuestions
from plugins.faults.replay import BadReplayError, Replay
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

FLUSH = 0.5  # seconds between two writings of what is recorded


class Faults(Plugin):
    """Do what the file of faults says. Raises BadFileError for a bad file."""

    class Options(Plugin.Options):
        """Which faults there are."""

        rules: FilePath | None = Field(
            default=None,
            description="The file of faults, read again when it changes. A path is relative to this file."
            " Without it, there are those that are added while the proxy runs.",
            examples=["faults.yaml"],
        )

    @staticmethod
    def examine(options: Faults.Options) -> Iterator[Finding | Problem]:
        """What is wrong with the file of faults."""
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
        self._replay = _replay(services)
        self._in_force = FaultsInForce(self._overlay, services, self._replay)
        self._on_requests = RequestFaults(self._in_force, services)
        self._fast_path = FaultsFastPath(self._on_requests.key, self._in_force, services.topics)
        self._questions = FaultQuestions(self._overlay, self._in_force, services)

    def stop(self) -> None:
        """Have all on disk that is recorded, and let go of what was counted."""
        self._replay.flush()
        self._in_force.end()

    def replaced(self) -> None:
        """Let go on what is held."""
        self._in_force.release_all()

    @property
    def ledger(self) -> Ledger:
        """What the faults did, and what came near."""
        return self._in_force.ledger

    def prepare_state(self, state: Any) -> Callable[[], None]:
        """Read other faults of run time."""
        put = self._overlay.prepare(state)

        def take() -> None:
            put()
            self._in_force.follow()  # at once: another state may come before a request does

        return take

    def query(self, question: str, said: Any) -> Any:
        """Answer what `questions.py` lists."""
        return self._questions.answer(question, said)

    def accepted(self, arrival: Arrival) -> Decision | Steps:
        """A client comes to a broker that may be down."""
        faults = self._in_force.of_connections()
        if not faults:
            return None
        host, port = arrival.client
        who, at = Client("", java_text(host), listener=arrival.listener), self.services.clock.wall()
        for name, fault in faults:
            is_meant = fault.match.of_connection(who, arrival.broker_id) and fault.match.is_now(at)
            if is_meant and self._in_force.fires(name, fault, None, f"{host}:{port}", arrival.broker_id):
                return fault.do.effect.refuse(name)
        return None

    @property
    def reads(self) -> frozenset[Api]:
        """The APIs that faults are about, as they are now."""
        return self._in_force.apis

    def handlers(self, position: int = 0) -> Iterable[Handler]:
        """Those of each side of each API that faults are about. Responses come to the last one first."""
        on, fast_path = self._on_requests, self._fast_path
        for api in self._in_force.apis:
            request, response = Wish(Request, api.request, None), Wish(Response, api.response, None)
            yield Handler(on.request, request, position, fast_path=fast_path)
            yield Handler(on.leave, request, position, on.leaves_oddly, fast_path)
            yield Handler(on.leave, response, position, on.leaves_oddly, settled=fast_path)
            yield Handler(on.response, response, position, on.is_pending, settled=fast_path)


def _replay(services: Services) -> Replay:
    """What the environment says of earlier runs. Raises PluginError."""
    try:
        replay = Replay()
    except BadReplayError as error:
        raise PluginError(str(error)) from None
    if replay.is_recording:
        services.every(FLUSH, replay.flush)
    return replay
