"""Counters: plain ints, counted where things happen, read when somebody asks.

Rules:
* Counting is `counters.accepted += 1` and nothing more: an instrument's own `add` costs 6 us, this 0.05.
* A count only ever grows; `open` alone goes up and down.
* A `Reading` is all counts of one worker at one moment, by the names of `measures.MEASURES`; it travels as JSON.
"""

from dataclasses import dataclass

Reading = dict[str, int]


@dataclass(slots=True)
class NetworkCounters:
    """What the network of one worker did."""

    open: int = 0  # client connections that are there now, dialling included
    accepted: int = 0
    over_connections: int = 0  # closed at once: the worker had as many as it may
    late_first_frame: int = 0
    idle: int = 0
    slow_frames: int = 0  # began and were not whole in time
    not_taken: int = 0  # a side did not take in time what was sent to it
    slow_dial: int = 0  # a broker neither accepted nor refused in time
    failed_dial: int = 0  # a broker refused, or could not be found
    cut_by_drain: int = 0  # still had requests in flight when the time to drain was over
    ended_by_fault: int = 0  # connections that ended for a reason worth a line in the log
    failed_handshakes: int = 0  # no TLS with a client, but for the next two
    slow_handshake: int = 0
    over_handshakes: int = 0  # closed at once: as many handshakes were under way as may be
    failed_discovery: int = 0  # no bootstrap address and no known broker answered
    failed_tasks: int = 0  # bugs outside a link, which ended nothing
    failed_accepts: int = 0  # no connection could be accepted: no descriptors left
    unusable_brokers: int = 0  # told of with an id, host or port that no broker can have
    over_brokers: int = 0  # told of where as many are known as may be
    closed_ports: int = 0  # the port for a broker, or to begin at, could not be had
    loops: int = 0  # a broker's address leads back to this proxy
