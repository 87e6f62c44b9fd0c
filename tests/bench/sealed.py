"""TLS to clients and plaintext to brokers: Doorkeeper beside HAProxy, which does the same and parses nothing.

Both use TLS 1.3, a P-256 certificate and the cipher that clients prefer. HAProxy has buffers of 64 KiB. There is no
"direct" here: the dummy brokers do not speak TLS.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.bench.contenders import Before, Doorkeeper, HAProxy
from tests.bench.rig import HOST, lacking
from tests.bench.workloads import HAPROXY, WORKLOADS, Target, Workload, cost, rate
from tests.certificates import Authority

OVER_TLS = {"tls": 1}


class SealedDoorkeeper(Doorkeeper):
    options = OVER_TLS

    def missing(self) -> str | None:
        return lacking(tls=True)

    def listener(self, folder: Path) -> str:
        certificate, key = Authority(folder).issue("server", HOST)
        return f"    tls: {{certificate: {certificate}, key: {key}, versions: [TLSv1.3]}}\n"


class SealedBefore(Before, SealedDoorkeeper):
    def missing(self) -> str | None:
        return lacking(tls=True) or Before.missing(self)


class SealedHAProxy(HAProxy):
    options = OVER_TLS
    tuning = "  tune.bufsize 65536\n"

    def missing(self) -> str | None:
        return lacking(tls=True) or super().missing()

    def bound(self, folder: Path) -> str:
        both = folder / "both.pem"
        both.write_bytes(b"".join(file.read_bytes() for file in Authority(folder).issue("server", HOST)))
        return f" ssl crt {both} ssl-min-ver TLSv1.3"


SEALED_CONTENDERS = (SealedDoorkeeper(), SealedBefore(), SealedHAProxy())


def sealed(name: str, *targets: Target) -> Workload:
    """One of the other workloads, over TLS."""
    (workload,) = (each for each in WORKLOADS if each.name == name)
    return replace(workload, name=f"tls-{name}", title=f"TLS: {workload.title}", targets=targets, beside=HAPROXY)


def handshakes(name: str, title: str, **more: float) -> Workload:
    """A workload of short connections, each for a single request."""
    options: dict[str, str | float] = {"api": "apiversions", "connections": 8, "anew": 1, **more}
    targets = (rate(0.6, HAPROXY),)
    return Workload(f"tls-{name}", f"TLS: {title}", options, targets=targets, beside=HAPROXY, unit="handshakes/s")


SEALED_WORKLOADS = (
    sealed("50x100", rate(0.8, HAPROXY)),
    sealed("10x5"),
    sealed("1m-produce"),
    sealed("1m-fetch", cost(1.0, HAPROXY)),
    handshakes("full", "full handshakes, 8 at a time"),
    handshakes("resumed", "resumed handshakes, 8 at a time", resume=1),
)
