"""CloudEvents: an event of the journal as it stands on the audit topic.

It is one record in structured mode: the value is JSON whose `data` is the event as in the journal, byte for byte.

Rules:
* `id` is instance/worker/sequence. Who writes a record again gives it the same, so a repetition is known by it.
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
TYPE = "doorkeeper.audit."  # and the kind of the event
_HEADERS = (Header("content-type", CONTENT_TYPE.encode()),)


def chain_key(instance: str, worker: int) -> bytes:
    """The key of a chain's records."""
    return f"{instance}/{worker}".encode()


def source(cluster: str) -> str:
    """Where events come from: the proxy in front of a cluster, by its name in the configuration."""
    return f"/doorkeeper/{cluster}"


def data_schema(version: int) -> str:
    """Names a version of the journal's schema."""
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
