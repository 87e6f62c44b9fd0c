"""Connected: the open connections of one worker, as the admin side shows them."""

from __future__ import annotations

import time
from collections.abc import Collection
from itertools import islice
from typing import Any

import trio

from proxy.core.topology import Endpoint
from proxy.net.conversation import Conversation

LONGEST = 200  # characters of a client id that are shown


def connected(conversations: Collection[Conversation], worker: int, limit: int) -> dict[str, Any]:
    """The first `limit` connections, and how many there are, as plain values."""
    began = time.time() - trio.current_time()
    shown = [_shown(conversation, worker, began) for conversation in islice(conversations, limit)]
    return {"total": len(conversations), "connections": shown}


def _shown(conversation: Conversation, worker: int, began: float) -> dict[str, Any]:
    connection = conversation.link.connection
    return {
        "id": f"{worker}-{connection.number}",
        "listener": connection.listener,
        "broker": connection.broker_id,
        "client": str(Endpoint(*connection.client)),
        "principal": connection.principal,
        "client_id": connection.client_id and connection.client_id[:LONGEST],
        "since": began + conversation.opened,
    }
