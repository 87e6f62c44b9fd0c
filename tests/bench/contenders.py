"""The contenders: no proxy (`direct`), Doorkeeper, and other proxies where they are installed.

Each contender knows the command that starts it in front of given brokers; where it is missing, it says in one line how
to install it. All listen on `port` for bootstrap and on `port + 1 + N` for broker N.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.bench.rig import HOST, Address, built

Upstream = Mapping[int, Address]  # node id -> where that broker listens


class Contender:
    """The base of all contenders; by itself, no proxy between clients and brokers."""

    name = "direct"
    rewrites = True  # it puts its own addresses into responses; where False, the brokers advertise its addresses
    warmup = 0.0  # seconds of load until it reaches full speed
    options: Mapping[str, str | float] = {}  # more options of the load generator, such as `tls`
    reloads = False  # it shares one process with other contenders that are Doorkeeper in another configuration

    def missing(self) -> str | None:
        """How to install it, in one line; None: it is installed."""
        return None

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str] | None:
        """What to run; None: nothing."""
        return None

    def bootstrap(self, upstream: Upstream, port: int) -> Address:
        return Address(HOST, port)


class Direct(Contender):
    def bootstrap(self, upstream: Upstream, port: int) -> Address:
        return next(iter(upstream.values()))


class Doorkeeper(Contender):
    """`doorkeeper run` with the smallest configuration: address rewriting, one worker."""

    name = "doorkeeper"

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        file = folder / "gateway.yaml"
        addresses = ", ".join(f'"{address}"' for address in upstream.values())
        file.write_text(
            f"clusters:\n  main: {{bootstrap: [{addresses}]}}\n"
            f"listeners:\n  clients:\n    cluster: main\n    bind: {HOST}:{port}\n    advertise: {HOST}\n"
            f"{self.listener(folder)}"
        )
        return [*self.python(), "-m", "proxy", "run", str(file)]

    def python(self) -> Sequence[str]:
        """The command of its interpreter, with the path to its modules."""
        return [sys.executable]

    def listener(self, folder: Path) -> str:
        """More options of the listener."""
        return ""


class Before(Doorkeeper):
    """An earlier Doorkeeper: another commit, checked out elsewhere."""

    name = "before"
    CHECKOUT = "DOORKEEPER_BEFORE"

    def missing(self) -> str | None:
        if Path(os.environ.get(self.CHECKOUT, ""), "proxy", "__main__.py").is_file() and os.environ.get(self.CHECKOUT):
            return None
        return f"check another commit out (`git worktree add`) and set {self.CHECKOUT} to that folder"

    def python(self) -> Sequence[str]:
        return ["env", f"PYTHONPATH={os.environ[self.CHECKOUT]}", sys.executable, "-P"]


def listens(upstream: Upstream, port: int) -> dict[int, Address]:
    """The broker address that each port forwards to."""
    first = next(iter(upstream.values()))
    return {port: first} | {port + 1 + node: address for node, address in upstream.items()}


class Relay(Contender):
    """The least work of any proxy, in C: one recv and one send for the same bytes, which it does not parse."""

    name = "relay"
    rewrites = False

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        return [str(built("relay")), *(f"{at}={address.port}" for at, address in listens(upstream, port).items())]


class PythonRelay(Relay):
    """The same in Python: what it takes more than the relay in C is the price of the language."""

    name = "python-relay"

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        forwarded = (f"{at}={address.port}" for at, address in listens(upstream, port).items())
        return [sys.executable, str(Path(__file__).with_name("relay.py")), *forwarded]


class HAProxy(Contender):
    """A TCP proxy that parses nothing, on one thread."""

    name = "haproxy"
    rewrites = False
    option = ""
    tuning = ""

    def missing(self) -> str | None:
        return None if shutil.which("haproxy") else "install it with `apt-get install haproxy`"

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        file = folder / "haproxy.cfg"
        bound = self.bound(folder)
        file.write_text(
            f"global\n  maxconn 4096\n  nbthread 1\n{self.tuning}"
            f"defaults\n  mode tcp\n  timeout connect 5s\n  timeout client 1m\n  timeout server 1m\n  {self.option}\n"
            + "".join(
                f"listen on-{at}\n  bind {HOST}:{at}{bound}\n  server broker {address}\n"
                for at, address in listens(upstream, port).items()
            )
        )
        return ["haproxy", "-db", "-f", str(file)]

    def bound(self, folder: Path) -> str:
        """More options of each `bind`."""
        return ""


class HAProxySplice(HAProxy):
    """HAProxy that moves bytes inside the kernel (splice)."""

    name = "haproxy-splice"
    option = "option splice-auto"


class KafkaProxy(Contender):
    """grepplabs' kafka-proxy, in Go."""

    name = "kafka-proxy"

    def missing(self) -> str | None:
        if shutil.which(self.name):
            return None
        return "run `go install github.com/grepplabs/kafka-proxy@latest` and add ~/go/bin to PATH"

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        maps = [f"--bootstrap-server-mapping={address},{HOST}:{port + 1 + node}" for node, address in upstream.items()]
        return [self.name, "server", "--http-disable", *maps]

    def bootstrap(self, upstream: Upstream, port: int) -> Address:
        return Address(HOST, port + 1 + min(upstream))


class Kroxylicious(Contender):
    """Kroxylicious, in Java on Netty, without filters."""

    name = "kroxylicious"
    warmup = 12.0

    def missing(self) -> str | None:
        if self.start_script.is_file():
            return None
        return "unpack its release (it needs Java 21) and set KROXYLICIOUS_HOME to that folder"

    @property
    def start_script(self) -> Path:
        return Path(os.environ.get("KROXYLICIOUS_HOME", "/opt/kroxylicious"), "bin", "kroxylicious-start.sh")

    def command(self, folder: Path, upstream: Upstream, port: int) -> Sequence[str]:
        first, last = min(upstream), max(upstream)
        file = folder / "kroxylicious.yaml"
        file.write_text(
            "virtualClusters:\n- name: bench\n"
            f"  targetCluster: {{bootstrapServers: '{','.join(map(str, upstream.values()))}'}}\n"
            "  gateways:\n  - name: default\n    portIdentifiesNode:\n"
            f"      bootstrapAddress: {HOST}:{port}\n      nodeStartPort: {port + 1 + first}\n"
            f"      nodeIdRanges: [{{name: all, start: {first}, end: {last}}}]\n"
        )
        return [str(self.start_script), "--config", str(file)]


CONTENDERS: tuple[Contender, ...] = (
    Direct(),
    Doorkeeper(),
    Before(),
    Relay(),
    PythonRelay(),
    HAProxy(),
    HAProxySplice(),
    KafkaProxy(),
    Kroxylicious(),
)
