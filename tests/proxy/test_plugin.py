"""The one import of a plugin."""

from __future__ import annotations

import proxy.plugin as surface
from proxy.core import decisions
from proxy.protocol import api, messages


def test_every_message_and_every_api_is_there() -> None:
    for name in messages.__all__:
        assert getattr(surface, name) is getattr(messages, name)
    for name, value in vars(api).items():
        if isinstance(value, api.Api):
            assert getattr(surface, name) is value


def test_every_decision_and_every_step_is_there() -> None:
    own = [name for name, value in vars(decisions).items() if getattr(value, "__module__", "") == decisions.__name__]
    assert own
    assert [name for name in own if not hasattr(surface, name)] == []
