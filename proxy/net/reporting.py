"""Reporting: the report of one worker, for health, metrics and the log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from proxy import logs
from proxy.net.served_clusters import ServedClusters
from proxy.net.worker_parts import WorkerParts
from proxy.telemetry.report import Report


def report(worker: WorkerParts, clusters: ServedClusters, requests: Mapping[str, int], *, is_ready: bool) -> Report:
    """The report at this moment. `requests`: how many of each API were counted."""
    reactor, budget, complaints = worker.reactor, worker.reactor.budget, worker.complaints
    reading = asdict(worker.counters) | asdict(worker.link_counters)
    reading["bytes_from_clients"] = reactor.sockets.bytes_from_clients
    reading["bytes_from_brokers"] = reactor.sockets.bytes_from_brokers
    reading |= {"held": budget.held, "paused_for_memory": budget.pauses, "ended_for_memory": budget.ends}
    reading["slow_turns"] = reactor.slow_turns.count
    reading["log_lines_left_out"] = complaints.left_out
    reading["log_lines_not_taken"] = logs.dropped()
    reading |= requests
    reading["brokers"] = sum(len(each.upstream.brokers) for each in clusters)
    brokers = {
        each.name: {str(node_id): str(endpoint) for node_id, endpoint in each.upstream.brokers.items()}
        for each in clusters
    }
    listening = {
        listener.name: {str(node_id): port for node_id, port in listener.ports.items()}
        for each in clusters
        for listener in each.exposure.listeners
        if listener.is_open
    }
    return Report(is_ready, listening, brokers, reading, worker.host.counters.counted())
