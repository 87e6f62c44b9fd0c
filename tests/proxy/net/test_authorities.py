"""Authorities follow the files that they judge by."""

from pathlib import Path

import trio
import trio.testing
from structlog.testing import capture_logs

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from proxy.core.sasl import Accepted, Rejected
from proxy.core.topology import Endpoint
from proxy.net.authorities import Authorities
from proxy.net.complaints import Complaints
from proxy.net.tasks import Tasks
from proxy.telemetry.counters import NetworkCounters
from tests.proxy.net.scripted import configuration

PATIENCE = 10.0


def authorities(file: Path) -> Authorities:
    config = configuration(Endpoint("127.0.0.1", 9092))
    listener = config.listeners["clients"].model_dump() | {
        "sasl": {"mechanisms": ["PLAIN", "SCRAM-SHA-256"], "credentials": str(file)}
    }
    listener = {name: value for name, value in listener.items() if value is not None}
    listener["bind"] = str(config.listeners["clients"].bind)
    whole = {"clusters": {"main": {"bootstrap": ["127.0.0.1:9092"]}}, "listeners": {"clients": listener}}
    return Authorities(type(config).model_validate(whole))


async def test_a_changed_file_is_in_force_within_a_second(tmp_path: Path) -> None:
    file = tmp_path / "users.yaml"
    save(file, {"alice": verifiers("old")})
    ours = authorities(file)
    authority = ours.by_listener["clients"]
    assert authority.mechanisms == ("PLAIN", "SCRAM-SHA-256")
    assert isinstance(authority.begin("PLAIN", False).step(b"\0alice\0old"), Accepted)
    assert authority.begin("SCRAM-SHA-256", False)
    with capture_logs() as lines:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(ours.watch, Tasks(NetworkCounters(), Complaints()))
            save(file, {"alice": verifiers("new")})
            with trio.fail_after(PATIENCE):
                while not isinstance(authority.begin("PLAIN", False).step(b"\0alice\0new"), Accepted):
                    await trio.sleep(0.05)
            assert isinstance(authority.begin("PLAIN", False).step(b"\0alice\0old"), Rejected)
            file.write_text("broken: [")
            with trio.fail_after(PATIENCE):
                while lines[-1]["event"] != "credentials not reloaded":
                    await trio.sleep(0.05)
            assert isinstance(authority.begin("PLAIN", False).step(b"\0alice\0new"), Accepted)
            nursery.cancel_scope.cancel()


def test_a_listener_without_sasl_has_no_authority() -> None:
    assert not Authorities(configuration(Endpoint("127.0.0.1", 9092))).by_listener
