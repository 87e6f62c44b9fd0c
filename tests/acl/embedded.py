"""Bytes and texts that clients make and brokers pass on: subscriptions, assignments and ids."""

from __future__ import annotations

import base64


def uuid_text(value: bytes) -> str:
    """An id as Kafka writes it."""
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def _text(value: str) -> bytes:
    return len(value.encode()).to_bytes(2, "big") + value.encode()


def subscription(topic: str) -> bytes:
    """ConsumerProtocolSubscription v0: the topics that a consumer subscribes to."""
    return bytes(2) + (1).to_bytes(4, "big") + _text(topic) + b"\xff\xff\xff\xff"


def assignment(topic: str) -> bytes:
    """ConsumerProtocolAssignment v0: the first partition of a topic."""
    one = (1).to_bytes(4, "big")
    return bytes(2) + one + _text(topic) + one + bytes(4) + b"\xff\xff\xff\xff"
