"""The cost of faults that never fire, without sockets: CPU time of a request and its response in a link.

    python -m tests.bench.unmatched

`python -m tests.bench --only faults-produce-50` and the like measure the shares of a whole proxy. This module measures
only what a plugin adds, and does so on a busy machine too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from itertools import product, repeat
from pathlib import Path
from typing import Any

from plugins.acl import Acl
from plugins.faults import Faults
from proxy.core.plugin import Plugin
from proxy.plugin import ErrorCode, FetchRequest, refuse
from proxy.protocol.messages.fetch import FetchResponse
from proxy.testing import FakeWorker, build, request_frame, response_frame
from tests.bench.exchanges import Exchange, relayed
from tests.bench.faults import faults_file
from tests.plugins.faults.talking import fetch, produce

REQUESTS = 20_000
REPEATS = 5
SESSION = 7  # the id of a fetch session
RULES = (None, 0, 1, 20, 100)  # None: no plugin


def exchanges(requests: Iterable[Any], version: int) -> list[Exchange]:
    """Each request with its response, as frames."""
    played = []
    for number, request in enumerate(requests):
        answer = refuse(request.api, version, request, ErrorCode.NONE)
        assert answer is not None
        if isinstance(answer, FetchResponse) and request.session_epoch >= 0:
            answer.session_id = SESSION
        asked, answered = request_frame(request, version, number, "app"), response_frame(answer, version, number)
        played.append((memoryview(bytearray(asked)), memoryview(bytearray(answered))))
    return played


def session() -> Iterator[FetchRequest]:
    """The requests of a fetch session: the first opens it, the others continue it."""
    yield fetch("orders", session_epoch=0)
    for epoch in range(1, REQUESTS):
        yield fetch(session_id=SESSION, session_epoch=epoch)


def plugins(rules: int | None, folder: Path, *, beside_acl: bool) -> list[Plugin]:
    """The plugin with this many rules, behind ACLs or not."""
    found: list[Plugin] = []
    if beside_acl:
        acl = folder / "acl.yaml"
        acl.write_text("acls: [{allow: 'User:*', to: [Read, Write, Describe], topics: orders}]")
        found.append(build(Acl, FakeWorker(name="acl"), rules=str(acl)))
    if rules is not None:
        file = folder / f"{rules}.yaml"
        file.write_text(faults_file(rules))
        found.append(build(Faults, FakeWorker(name="faults"), rules=str(file)))
    return found


def main() -> None:
    workloads = {
        "Produce": exchanges(repeat(produce("orders"), REQUESTS), 9),
        "Fetch": exchanges(repeat(fetch("orders"), REQUESTS), 12),
        "Fetch in a session": exchanges(session(), 12),
    }
    with tempfile.TemporaryDirectory() as folder:
        for (name, played), beside_acl in product(workloads.items(), (False, True)):
            taken: dict[int | None, list[float]] = {rules: [] for rules in RULES}
            for _ in range(REPEATS):
                for rules, each in taken.items():
                    each.append(relayed(played, *plugins(rules, Path(folder), beside_acl=beside_acl)))
            for rules, each in taken.items():
                title = "no faults" if rules is None else f"{rules} rules that do not match"
                print(f"{min(each):6.2f} us  {name} and its answer, {title}{', beside acl' * beside_acl}")


if __name__ == "__main__":
    main()
