"""Doorkeeper in front of secured brokers: a listener for each of its ways, over each transport.

inspected   SASL passes to the brokers
terminated  the proxy authenticates clients, and logs in to the brokers as itself
mapped      the proxy authenticates clients, and logs in to the brokers as each client
tokens      the proxy verifies tokens, and fetches its own token for the brokers
certified   clients authenticate by certificates, and so does the proxy to the brokers
signed      tokens pass to the brokers, which verify them
renewed     SASL passes to the brokers, whose sessions end after eight seconds
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType

import yaml

from proxy.auth.users import save
from proxy.auth.verifiers import verifiers
from tests.plugins.sasl import jwt
from tests.real.jars import CHECKOUT
from tests.real.ports import free_block
from tests.real.process import Program
from tests.real.records import patiently
from tests.real.secured.clients import As
from tests.real.secured.cluster import CLAIM, MECHANISMS, PASSWORDS, PRINCIPALS, SecuredCluster
from tests.real.secured.papers import Papers, show, trust

HOST = "127.0.0.1"
START = 60.0
PLAIN, TLS = "plain", "tls"
# way -> the brokers' listener, over plain connections and over TLS
BROKERS = {
    "inspected": {PLAIN: "SASL", TLS: "SEALED"},
    "terminated": {PLAIN: "SHORT", TLS: "SEALED"},
    "mapped": {PLAIN: "SASL", TLS: "SEALED"},
    "tokens": {PLAIN: "SHORT", TLS: "SEALED"},
    "certified": {TLS: "CERTIFIED"},
    "signed": {TLS: "SIGNED"},
    "renewed": {PLAIN: "SHORT"},
}
AS_ITSELF = ("terminated", "tokens", "certified")  # ways on which the brokers see the proxy's own principal
FREE_PORTS = 6  # the bootstrap port, and the ports of brokers, whose highest id is 3
SESSION = "8s"  # Java clients re-authenticate after 85 to 95 % of it: the rest is margin for a slow machine


class TokenEndpoint(ThreadingHTTPServer):
    """A token endpoint for the proxy, whose tokens last for some seconds; a context."""

    LIFETIME = 12.0

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.end_headers()
            now = time.time()
            token = jwt(sub="doorkeeper", iat=now, exp=now + TokenEndpoint.LIFETIME)
            self.wfile.write(json.dumps({"access_token": token, "expires_in": TokenEndpoint.LIFETIME}).encode())

        def log_message(self, *arguments: object) -> None:
            pass

    def __init__(self) -> None:
        super().__init__((HOST, 0), self.Handler)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.server_port}/"

    def __exit__(self, *error: object) -> None:
        self.shutdown()
        super().__exit__(*error)


class Proxy:
    """One run of Doorkeeper with the configuration of a test; a context that ends it."""

    def __init__(self, folder: Path, configuration: dict[str, object]) -> None:
        self.folder = folder
        file = folder / "gateway.yaml"
        file.write_text(yaml.safe_dump(configuration))
        command = [sys.executable, "-m", "proxy", "run", str(file), "--log", "json", "--verbose"]
        self.program = Program("doorkeeper", command, folder / "doorkeeper.log", env={"PYTHONPATH": str(CHECKOUT)})

    def __enter__(self) -> Proxy:
        try:
            self.program.expect('"ready"', within=START)  # all listeners are open, not only the first
        except BaseException:
            self.program.stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.program.stop()

    def told(self, *texts: str) -> list[str]:
        """The log lines so far that have all these texts."""
        return [line for line in self.program.output().splitlines() if all(text in line for text in texts)]

    @contextmanager
    def tells(self, *texts: str) -> Iterator[None]:
        """The block must produce a new log line that has all these texts."""
        before = len(self.told(*texts))
        yield
        for _ in patiently(f"a line with {texts}", START):
            if len(self.told(*texts)) > before:
                break
            time.sleep(0.05)


class Guarding(Proxy):
    """Doorkeeper in all its ways."""

    def __init__(self, folder: Path, cluster: SecuredCluster, endpoint: str) -> None:
        self.cluster = cluster
        self.users = folder / "users.yaml"
        save(self.users, {name: verifiers(password) for name, password in PASSWORDS.items()})
        authority = cluster.authority
        self.trusted = trust(authority)
        self.server = authority.issue("server", HOST, "localhost")  # the host name that Java clients before 2.4 use
        self.clients_authority = folder / "clients-ca.pem"
        self.clients_authority.write_text(authority.file.read_text())
        self.own = authority.issue("doorkeeper", organization="Clients")
        self.ports = {
            (way, transport): free_block(FREE_PORTS, HOST)
            for way, transports in BROKERS.items()
            for transport in transports
        }
        super().__init__(folder, self._configuration(endpoint))

    def _configuration(self, endpoint: str) -> dict[str, object]:
        clusters, listeners = {}, {}
        for (way, transport), port in self.ports.items():
            name = f"{way}-{transport}"
            brokers = self.cluster.at(BROKERS[way][transport]).split(",")
            clusters[name] = {"bootstrap": brokers} | self._as_whom(way, endpoint)
            listeners[name] = {"cluster": name, "bind": f"{HOST}:{port}"} | self._authority(way)
            if transport == TLS:
                clusters[name]["tls"] = {"ca": str(self.cluster.authority.file)}
                listeners[name]["tls"] = _pair(*self.server)
        clusters["certified-tls"]["tls"] |= _pair(*self.own)
        listeners["certified-tls"]["tls"] |= {
            "client_auth": "required",
            "ca": str(self.clients_authority),
            "principal_mapping": list(PRINCIPALS),
        }
        clusters["signed-tls"]["principal_claim"] = CLAIM
        return {"clusters": clusters, "listeners": listeners}

    def _as_whom(self, way: str, endpoint: str) -> dict[str, object]:
        name, password = "doorkeeper", PASSWORDS["doorkeeper"]
        if way == "tokens":
            client = {"endpoint": endpoint, "client_id": name, "client_secret": password}
            return {"sasl": {"mechanism": "OAUTHBEARER", "oauthbearer": client}}
        usual = {"mechanism": "SCRAM-SHA-512", "username": name, "password": password}
        if way == "terminated":
            return {"sasl": usual}
        if way == "mapped":
            identities = {f"User:{user}": {"username": user, "password": PASSWORDS[user]} for user in ("alice", "bob")}
            return {"sasl": usual | {"mechanism": "SCRAM-SHA-256", "identities": identities}}
        return {}

    def _authority(self, way: str) -> dict[str, object]:
        if way in ("terminated", "mapped"):
            mechanisms = list(MECHANISMS[:3])
            return {"sasl": {"mechanisms": mechanisms, "credentials": str(self.users), "session": SESSION}}
        if way == "tokens":
            judge = {"jwks": str(self.cluster.keys), "issuer": "https://issuer", "audience": "kafka"}
            return {"sasl": {"mechanisms": ["OAUTHBEARER"], "session": SESSION, "oauthbearer": judge}}
        return {}

    def at(self, way: str, transport: str) -> str:
        """The bootstrap address of this way through the proxy."""
        return f"{HOST}:{self.ports[way, transport]}"

    def direct(self, way: str, transport: str) -> str:
        """The bootstrap addresses of this way without the proxy."""
        return self.cluster.at(BROKERS[way][transport])

    def client(
        self, way: str, transport: str, mechanism: str | None, user: str = "alice", *, direct: bool = False
    ) -> As:
        """The credentials of a valid client on this way."""
        password = PASSWORDS.get(user, "")
        if way in ("tokens", "signed"):
            password = self.cluster.issuer.token(time.time(), sub=user, **{CLAIM: user})
        at = self.direct(way, transport) if direct else self.at(way, transport)
        return As(at, mechanism, user, password, self.trusted if transport == TLS else None)

    def shown(self, name: str) -> Papers:
        """A client certificate with this name."""
        authority = self.cluster.authority
        return show(self.trusted, authority, *authority.issue(name, organization="Clients"))


def _pair(certificate: Path, key: Path) -> dict[str, object]:
    return {"certificate": str(certificate), "key": str(key)}
