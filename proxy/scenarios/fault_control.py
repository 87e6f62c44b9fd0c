"""Fault control: the operations that a scenario needs of a gateway. `chaos.client.AdminClient` has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol


class FaultCounts(Protocol):
    """A fault that is in force, and its counts."""

    @property
    def name(self) -> str: ...
    @property
    def matched(self) -> int: ...
    @property
    def fired(self) -> int: ...


class FaultCountsList(Protocol):
    """The answer with all faults. `resets`: how often all counts began anew."""

    @property
    def resets(self) -> int: ...
    @property
    def faults(self) -> Sequence[FaultCounts]: ...


class FaultControl(Protocol):
    """A gateway whose faults can be changed and counted."""

    def add(self, *faults: Mapping[str, Any]) -> list[str]: ...
    def remove(self, name: str) -> FaultCounts: ...
    def reset(self, seed: int | None = None) -> None: ...
    def faults(self) -> FaultCountsList: ...
