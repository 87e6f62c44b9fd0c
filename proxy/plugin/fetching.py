"""Fetch sessions and topics by id from the inside, for plugins that change what is fetched."""

# ruff: noqa: I001 (each name is imported as itself: so it is exported)

from proxy.core.fetch_session import (
    FetchedTopic as FetchedTopic,
    FetchSession as FetchSession,
    Topic as Topic,
)
from proxy.core.fetch_sessions import (
    FULL as FULL,
    LAST as LAST,
    WITH_IDS as WITH_IDS,
    WITH_SESSIONS as WITH_SESSIONS,
    FetchSessions as FetchSessions,
    named as named,
)
from proxy.core.topic_names import (
    MOST_ASKED as MOST_ASKED,
    portions as portions,
)
