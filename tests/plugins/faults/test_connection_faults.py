"""The faults that may match a client's requests are computed once, until faults or client change."""

from pathlib import Path

import pytest

from plugins.faults import in_force
from plugins.faults.connection_faults import ConnectionFaults, faults_of
from plugins.faults.in_force import FaultsInForce
from plugins.faults.overlay import Overlay, load
from proxy.core.context import Connection, Context
from proxy.protocol.api import FETCH, PRODUCE
from proxy.testing import FakeWorker, connection
from rules.unlike import unlike_request as unlike

TEXT = """
    faults:
      - {name: alice, match: {principal: User:alice}, do: hold}
      - {name: new, match: {api: Produce, version: 9-12}, do: hold}
      - {name: far, match: {principal: User:bob, broker: 7}, do: hold}
"""


class Made:
    """A connection, and the faults in force."""

    def __init__(self, folder: Path) -> None:
        self.worker, self.file = FakeWorker(), folder / "faults.yaml"
        self.file.write_text(TEXT)
        self.in_force = FaultsInForce(Overlay(self.worker.watch("faults", self.file, load)), self.worker.services())
        self.connection: Connection = connection()
        self.connection.principal, self.connection.client_id = "User:alice", "app"

    def faults(self) -> ConnectionFaults:
        return faults_of(self.connection, "faults", self.in_force)

    def names(self, of: ConnectionFaults, version: int) -> list[str]:
        return [name for name, _ in of.of(Context(self.connection, PRODUCE, version, 1))]


def test_they_are_those_of_the_client_the_api_and_the_version(tmp_path: Path) -> None:
    made = Made(tmp_path)
    of = made.faults()
    assert made.names(of, 9) == ["alice", "new"]
    assert made.names(of, 8) == ["alice"]
    assert [name for name, _ in of.of(Context(made.connection, FETCH, 9, 1))] == ["alice"]
    assert made.faults() is of


def test_they_hold_until_the_faults_or_the_client_change(tmp_path: Path) -> None:
    made = Made(tmp_path)
    of = made.faults()
    made.file.write_text(f"{TEXT}# another")
    assert of.holds()
    made.worker.look()
    assert not of.holds()
    for name in ("principal", "mechanism", "client_id"):
        of = made.faults()
        setattr(made.connection, name, "another")
        assert not of.holds()
    assert made.names(made.faults(), 9) == ["new"]


def test_another_configuration_of_the_plugin_brings_its_own_faults(tmp_path: Path) -> None:
    made = Made(tmp_path)
    assert made.names(made.faults(), 9) == ["alice", "new"]
    (tmp_path / "other").mkdir()
    other = Made(tmp_path / "other")
    made.in_force = other.in_force
    other.file.write_text(TEXT.replace("name: new", "name: newer"))
    other.worker.look()
    assert made.names(made.faults(), 9) == ["alice", "newer"]


def test_what_one_condition_keeps_from_being_meant_is_a_near_miss(tmp_path: Path) -> None:
    made = Made(tmp_path)
    made.names(made.faults(), 8)
    assert [(entry.fault, entry.why) for entry in made.in_force.ledger] == [("new", "version is 8, not 9-12")]


def test_what_was_worked_out_for_one_connection_is_known_of_the_next_until_the_faults_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Made(tmp_path)
    compared: list[str] = []
    monkeypatch.setattr(
        in_force, "unlike_request", lambda match, facts: compared.append(facts.client.client_id) or unlike(match, facts)
    )
    for client_id in ("app", "app", "app-2", "app"):
        made.connection = connection()
        made.connection.principal, made.connection.client_id = "User:alice", client_id
        assert made.names(made.faults(), 9) == ["alice", "new"]
    assert compared == ["app"] * 3 + ["app-2"] * 3
    made.file.write_text(TEXT.replace("9-12", "8"))
    made.worker.look()
    assert made.names(made.faults(), 9) == ["alice"]


def test_of_endless_clients_the_last_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_force, "MOST", 3)
    made = Made(tmp_path)
    for number in range(10):
        made.connection.client_id = f"app-{number}"
        assert made.names(made.faults(), 9) == ["alice", "new"]
    made.connection.client_id = "long" * 100
    assert made.names(made.faults(), 9) == ["alice", "new"]
    assert len(made.in_force._compared) <= 3
    assert all(len(facts.client.client_id or "") < 100 for facts in made.in_force._compared)
