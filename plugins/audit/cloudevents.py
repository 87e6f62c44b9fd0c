"""CloudEvents: an event of the journal as a record of the audit topic.

The record is in structured mode: its value is JSON, with the event as in the journal, byte for byte, under `data`.

Rules:
* `id` is instance/worker/sequence. A record that is written again has the same id, so consumers can tell repetitions.
* The key is the chain: instance/worker. Its events stay in order.
* `subject` is the principal, where the event has one.

Sources: CloudEvents 1.0.2, its JSON format, and its Kafka protocol binding.
"""

from __future__ import annotations

from datetime import datetime

from pydantic_core import from_json, to_json

from proxy.plugin import Header, Record

CONTENT_TYPE = "application/cloudevents+json"
SPEC = "1.0"
TYPE = "doorkeeper.audit."  # followed by the kind of the event
_HEADERS = (Header("content-type", CONTENT_TYPE.encode()),)


def chain_key(instance: str, worker: int) -> bytes:
    """The key of a chain's records."""
    return f"{instance}/{worker}".encode()


def source(cluster: str) -> str:
    """The source of events: the proxy in front of a cluster, by the cluster's name in the configuration."""
    return f"/doorkeeper/{cluster}"


def data_schema(version: int) -> str:
    """The URN of a version of the journal's schema."""
    return f"urn:doorkeeper:audit:{version}"


def record(line: bytes, key: bytes, source: str) -> Record:
    """The record of a line of the journal."""
    event = from_json(line)
    about = {
        "specversion": SPEC,
        "id": f"{key.decode()}/{event['sequence']}",
        "source": source,
        "type": TYPE + event["kind"],
        "time": event["time"],
        "datacontenttype": "application/json",
        "dataschema": data_schema(event["schema"]),
    }
    if "principal" in event:
        about["subject"] = event["principal"]
    value = b'%s,"data":%s}' % (to_json(about)[:-1], line.rstrip(b"\n"))
    return Record(key, value, _HEADERS, round(datetime.fromisoformat(event["time"]).timestamp() * 1000))
