"""The side with Doorkeeper and its plugin `acl`, in front of a broker that allows everything; rules are in a file."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from rules.model import AclFile, AclRule
from rules.write import file_text
from tests.acl.load import Scenario
from tests.acl.names import SUPER_USER, Names
from tests.acl.nodes import HOST, PASSWORD, Node
from tests.acl.side import FENCE, Side
from tests.acl.wire import Wire
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program

START = 60.0
CONFIGURATION = """\
clusters:
  main:
    bootstrap: ["{host}:{clients}"]
    sasl: {{mechanism: PLAIN, username: {admin}, password: {password}, identities: {identities}}}
listeners:
  clients:
    cluster: main
    bind: "{host}:{port}"
    sasl: {{mechanisms: [PLAIN], credentials: users.yaml}}
plugins:
  - acl: {{rules: acl.yaml, managed: true}}
"""


class Proxied(Side):
    """Doorkeeper with the plugin `acl`, in front of a broker that allows everything."""

    def __init__(self, folder: Path, node: Node, scenarios: Sequence[Scenario], unmatched: str) -> None:
        folder.mkdir()
        self._unmatched = unmatched
        self._rules = {each.number: Names(each.number).rules(each.given.acls) for each in scenarios}
        self._file = folder / "acl.yaml"
        self._fences = 0
        self._write()
        same = verifiers(PASSWORD)
        save(folder / "users.yaml", dict.fromkeys(users(scenarios), same))
        port = free_block(4, HOST)
        known = ", ".join(f"User:{name}: {{username: {name}, password: {PASSWORD}}}" for name in identified(scenarios))
        text = CONFIGURATION.format(
            host=HOST,
            clients=node.clients,
            port=port,
            admin=SUPER_USER,
            password=PASSWORD,
            identities=f"{{{known}}}",
        )
        (folder / "gateway.yaml").write_text(text)
        command = [sys.executable, "-m", "proxy", "run", str(folder / "gateway.yaml"), "--log", "text"]
        self.program = Program("doorkeeper", command, folder / "doorkeeper.log", env={"PYTHONPATH": str(CHECKOUT)})
        try:
            self.program.expect("listening", str(port), within=START)
            super().__init__("doorkeeper", node, port)
        except BaseException:
            self.program.kill()
            raise

    def close(self) -> None:
        super().close()
        self.program.stop()

    def change(self, number: int, acls: Sequence[AclRule]) -> None:
        self._rules[number] = list(acls)
        self._fences += 1
        self._write()
        with Wire(self.port, FENCE) as probe:
            self._wait(probe, f"{FENCE}-{self._fences}")

    def _write(self) -> None:
        may_see = AclRule.model_validate(
            {"allow": f"User:{FENCE}", "to": "Describe", "topics": f"{FENCE}-{self._fences}"}
        )
        acls = tuple(acl for rules in self._rules.values() for acl in rules)
        rules = AclFile.model_construct(
            super_users=(f"User:{SUPER_USER}",), unmatched=self._unmatched, acls=(may_see, *acls)
        )
        text = file_text(rules)
        fresh = self._file.with_suffix(".new")
        fresh.write_text(text)
        fresh.replace(self._file)


def users(scenarios: Iterable[Scenario]) -> list[str]:
    """All users of the scenarios, by name on the wire."""
    named = {
        Names(each.number).wire(name)
        for each in scenarios
        for name in (*each.people, *(step.as_ for step in each.steps))
    }
    return sorted({SUPER_USER, FENCE} | named)


def identified(scenarios: Iterable[Scenario]) -> list[str]:
    """Users that the proxy maps to their own identity at the broker: a delegation token belongs to its requester."""
    return users(each for each in scenarios if each.theme == "tokens")
