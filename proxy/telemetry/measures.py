"""Measures: the counts of the proxy, the name and labels of each as it is published, and its meaning.

Rules:
* One line a count. Counts of one kind share an instrument and differ by one attribute: `limit`, `reason`, `api`.
* A count for each API is published only for APIs where it is not 0.
* Names are promises: dashboards and alerts depend on them.
* The counts of plugins have names that the plugins choose: see `plugin_counters.py`.
"""

from typing import NamedTuple

from proxy.protocol.api import APIS


class Measure(NamedTuple):
    """One count: its name in a `Reading`, and its instrument and attributes."""

    key: str
    instrument: str
    attributes: dict[str, str]


class Instrument(NamedTuple):
    """One published name. `grows`: it is a counter, otherwise a gauge."""

    name: str
    unit: str
    description: str
    grows: bool = True


OPEN = "doorkeeper.connections.open"
ACCEPTED = "doorkeeper.connections"
BYTES = "doorkeeper.io"
REQUESTS = "doorkeeper.requests"
ANSWERS = "doorkeeper.answers"
HELD = "doorkeeper.held"
PAUSES = "doorkeeper.pauses"
LIMITS = "doorkeeper.limits"
FAULTS = "doorkeeper.faults"
BROKERS = "doorkeeper.brokers"
LOG_LINES = "doorkeeper.log.lines_dropped"
ADMIN_CLOSED = "doorkeeper.admin.connections_closed"

INSTRUMENTS = (
    Instrument(OPEN, "{connection}", "Client connections that are open now.", grows=False),
    Instrument(ACCEPTED, "{connection}", "Client connections accepted."),
    Instrument(BYTES, "By", "Bytes read, by the side that sent them."),
    Instrument(REQUESTS, "{request}", "Requests read from clients, by API, in versions that the proxy knows."),
    Instrument(ANSWERS, "{request}", "Requests that the proxy answered itself, as it does ApiVersions."),
    Instrument(HELD, "By", "Bytes held for all connections, which `limits.memory` bounds.", grows=False),
    Instrument(PAUSES, "1", "How often a connection was not read for a while since too much was held."),
    Instrument(LIMITS, "1", "How often each limit was met."),
    Instrument(FAULTS, "1", "What went wrong, by reason."),
    Instrument(LOG_LINES, "{line}", "Lines missing in the log: too many were alike, or standard error took no more."),
    Instrument(ADMIN_CLOSED, "{connection}", "Connections of the admin side closed, since too many were open."),
    Instrument(BROKERS, "{broker}", "Brokers known.", grows=False),
)

MEASURES = (
    Measure("open", OPEN, {}),
    Measure("accepted", ACCEPTED, {}),
    Measure("bytes_from_clients", BYTES, {"from": "client"}),
    Measure("bytes_from_brokers", BYTES, {"from": "broker"}),
    *(Measure(f"requests_{api.name}", REQUESTS, {"api": api.name}) for api in APIS.values()),
    Measure("answered", ANSWERS, {}),
    Measure("held", HELD, {}),
    Measure("paused_for_memory", PAUSES, {}),
    Measure("ended_for_memory", LIMITS, {"limit": "memory"}),
    Measure("over_connections", LIMITS, {"limit": "connections"}),
    Measure("late_first_frame", LIMITS, {"limit": "first_frame"}),
    Measure("idle", LIMITS, {"limit": "idle"}),
    Measure("slow_frames", LIMITS, {"limit": "frame_time"}),
    Measure("not_taken", LIMITS, {"limit": "take_time"}),
    Measure("slow_dial", LIMITS, {"limit": "dial"}),
    Measure("cut_by_drain", LIMITS, {"limit": "drain"}),
    Measure("bad_frames", LIMITS, {"limit": "frame"}),
    Measure("too_many_elements", LIMITS, {"limit": "elements"}),
    Measure("full_pipelines", LIMITS, {"limit": "in_flight"}),
    Measure("failed_dial", FAULTS, {"reason": "broker_unreachable"}),
    Measure("failed_discovery", FAULTS, {"reason": "cluster_unreachable"}),
    Measure("slow_handshake", LIMITS, {"limit": "handshake"}),
    Measure("over_handshakes", LIMITS, {"limit": "handshakes"}),
    Measure("failed_handshakes", FAULTS, {"reason": "no_tls"}),
    Measure("ended_by_fault", FAULTS, {"reason": "connection_ended"}),
    Measure("unknown_apis", FAULTS, {"reason": "unknown_api"}),
    Measure("broken_pairs", FAULTS, {"reason": "unasked_answer"}),
    Measure("undecodable", FAULTS, {"reason": "undecodable"}),
    Measure("failed_handlers", FAULTS, {"reason": "handler_failed"}),
    Measure("failed_observers", FAULTS, {"reason": "observer_failed"}),
    Measure("failed_authentications", FAULTS, {"reason": "authentication_failed"}),
    Measure("log_lines_left_out", LOG_LINES, {"reason": "throttled"}),
    Measure("log_lines_not_taken", LOG_LINES, {"reason": "not_taken"}),
    Measure("failed_tasks", FAULTS, {"reason": "task_failed"}),
    Measure("slow_turns", FAULTS, {"reason": "event_loop_held_up"}),
    Measure("failed_accepts", FAULTS, {"reason": "no_descriptors"}),
    Measure("unusable_brokers", FAULTS, {"reason": "broker_unusable"}),
    Measure("closed_ports", FAULTS, {"reason": "port_not_open"}),
    Measure("loops", FAULTS, {"reason": "loop"}),
    Measure("refused_files", FAULTS, {"reason": "file_not_reloaded"}),
    Measure("dead_workers", FAULTS, {"reason": "worker_died"}),  # counted by the supervisor
    Measure("over_brokers", LIMITS, {"limit": "brokers"}),
    Measure("brokers", BROKERS, {}),
    Measure("closed_admin_connections", ADMIN_CLOSED, {}),
)
