"""State: what a plugin is told while it runs, beside its options. All workers take it, or none does.

Rules:
* A state is plain values, as JSON has them. It is complete: it replaces the state that was in force before.
* Every plugin of the name prepares it, in a thread. It is put in force only if all could prepare it.
* A plugin that is made later is made with it (`services.state`): in another worker, or by another configuration.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from proxy.text.problems import Finding


class StateError(ValueError):
    """A state that cannot be taken, with every reason why, by the paths of its values."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = tuple(findings)
        super().__init__("; ".join(finding.message for finding in self.findings))


class NoPluginError(LookupError):
    """No plugin of this name is in front of any cluster."""

    def __init__(self, plugin: str) -> None:
        super().__init__(f'the configuration has no plugin "{plugin}"; add "- {plugin}: {{}}" to its "plugins:"')


class NotTakenError(Exception):
    """A worker cannot take a state now, whatever it says; nothing changed. The reasons are for people."""

    @property
    def reasons(self) -> Sequence[str]:
        """A line each."""
        return self.args


class PluginStates(Protocol):
    """Talks to the plugins of all workers while they run. A plugin's name is the one in the configuration."""

    def of(self, plugin: str) -> Any:
        """The state that plugins of this name took last; None: none yet."""

    async def change(self, plugin: str, state: Any) -> None:
        """Have them take a state: all of them, or none. Raises StateError, NoPluginError or NotTakenError."""

    async def query(self, plugin: str, question: str, said: Any) -> dict[int, list[Any]]:
        """Their answers, cluster by cluster, by the number of the worker. Raises NoPluginError.

        A worker that does not answer, since it is about to be replaced, is not among them.
        """
