"""The option `topic`: a topic that gets the journal's events too."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import AfterValidator, Field

from proxy.plugin import wrong
from proxy.plugin.files import Section

_LEGAL = re.compile(r"[A-Za-z0-9._-]{1,249}")  # org.apache.kafka.common.internals.Topic


def _topic_name(value: str) -> str:
    if not _LEGAL.fullmatch(value) or value in (".", ".."):
        fact = f'no topic can be called "{value}"'
        raise wrong(fact, 'use letters, digits, ".", "_" and "-", 249 at most')
    return value


class AuditTopic(Section):
    """A topic, and on which cluster it is."""

    name: Annotated[str, AfterValidator(_topic_name)] = Field(
        description="The topic, which must exist.", examples=["doorkeeper-audit"]
    )
    cluster: str | None = Field(
        default=None,
        description="Its cluster, a name under `clusters`. Without it, the cluster of the clients.",
        examples=["main"],
    )
