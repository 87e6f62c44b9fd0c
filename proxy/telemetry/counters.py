"""Counters: plain ints, incremented where things happen and read on demand.

Rules:
* Counting is `counters.accepted += 1` and nothing more: that takes 0.05 us, an instrument's own `add` takes 6.
* A count only ever grows; `open` alone goes up and down.
* A `Reading` has all counts of one worker at one moment, under the names of `measures.MEASURES`. It travels as JSON.
"""

from dataclasses import dataclass

CountsByName = dict[str, int]


@dataclass(slots=True)
class NetworkCounters:
    """What happened in the network layer of one worker."""

    open: int = 0  # client connections that are open now, including those whose broker is still dialled
    accepted: int = 0
    over_connections: int = 0  # closed at once: the worker had its maximum of connections
    late_first_frame: int = 0
    idle: int = 0
    slow_frames: int = 0  # frames that began and were not complete in time
    not_taken: int = 0  # a client or a broker did not take in time what was sent to it
    slow_dial: int = 0  # a broker neither accepted nor refused in time
    failed_dial: int = 0  # a broker refused the connection, or its name was not found
    cut_by_drain: int = 0  # still had requests in flight at the end of the drain
    ended_by_fault: int = 0  # connections that ended for a reason worth a line in the log
    failed_handshakes: int = 0  # TLS handshakes with clients that failed, except for the next two
    slow_handshake: int = 0
    over_handshakes: int = 0  # closed at once: the worker had its maximum of handshakes
    failed_discovery: int = 0  # no bootstrap address and no known broker answered
    failed_tasks: int = 0  # bugs outside a link; they ended no connection
    failed_accepts: int = 0  # a connection could not be accepted: no file descriptors left
    unusable_brokers: int = 0  # brokers whose id, host or port no broker can have
    over_brokers: int = 0  # brokers beyond the maximum of known brokers
    closed_ports: int = 0  # the port for a broker, or a bootstrap port, could not be opened
    refused_files: int = 0  # a file changed and cannot be used; its previous content stays in force
    loops: int = 0  # a broker's address leads back to this proxy


@dataclass(slots=True)
class AdminCounters:
    """What happened on the admin side."""

    closed_admin_connections: int = 0  # closed for another one: there was the maximum of connections
