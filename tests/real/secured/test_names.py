"""One port for all brokers, a host name for each: real clients reach them all by name (SNI)."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real.ports import free_port
from tests.real.secured.clients import CLIENTS, As
from tests.real.secured.cluster import PASSWORDS, SecuredCluster
from tests.real.secured.guarding import HOST, Proxy
from tests.real.secured.named import run
from tests.real.secured.papers import trust

pytestmark = pytest.mark.real

NAME = "kafka.doorkeeper.test"
VALUES = [b"%02d" % number for number in range(30)]


@pytest.mark.parametrize("workers", [pytest.param(1, marks=pytest.mark.long), 2])
def test_every_client_reaches_every_broker_by_its_name(tmp_path: Path, secured: SecuredCluster, workers: int) -> None:
    authority, port = secured.authority, free_port(HOST)
    certificate, key = authority.issue("named", NAME, f"*.{NAME}")
    hosts = tmp_path / "hosts"
    hosts.write_text(
        f"127.0.0.1 localhost\n{HOST} {NAME}\n" + "".join(f"{HOST} broker-{n}.{NAME}\n" for n in (1, 2, 3))
    )
    clusters = {"main": {"bootstrap": secured.at("SEALED").split(","), "tls": {"ca": str(authority.file)}}}
    listener = {
        "cluster": "main",
        "bind": f"{HOST}:{port}",
        "advertise": NAME,
        "tls": {"certificate": str(certificate), "key": str(key), "hosts": f"broker-{{id}}.{NAME}"},
    }
    who = As(f"{NAME}:{port}", "PLAIN", "alice", PASSWORDS["alice"], trust(authority))
    configuration = {"clusters": clusters, "listeners": {"named": listener}, "workers": workers}
    with Proxy(tmp_path, configuration) as proxy:
        topics = {client: f"alice-named-{workers}-{client}" for client in CLIENTS}
        told = run(hosts, who, topics, VALUES)
        for number in secured.brokers:
            assert proxy.told('"client authenticated"', f'"broker": {number},', '"User:alice"')
        unknown = run(hosts, who._replace(bootstrap=f"localhost:{port}"), {"librdkafka": "alice-unknown"}, VALUES)
        assert proxy.told('"no TLS"', 'it asked for host \\"localhost\\" (SNI), which is none of ours')
    expected = [value.decode() for value in VALUES]
    assert {client: told[client] for client in CLIENTS if told[client] != expected} == {}
    assert isinstance(unknown["librdkafka"], str)
    assert len(proxy.told('"no TLS"', "broker-")) == 0
