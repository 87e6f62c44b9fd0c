"""Learned brokers: the supervisor tells all workers of the brokers that one of them learned of.

Rules:
* Workers that get ready later are told too. None waits for another.
* Brokers of clusters that are not in the configuration in force are told to nobody, and forgotten.
* No more are remembered than the clusters may have together. Then the one that was learned first is forgotten.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from proxy.config import Config
from proxy.net.channel import Learned
from proxy.net.child import Child


class LearnedBrokers:
    """The brokers that workers learned of. `children` has the live workers by number, `config` what is in force."""

    def __init__(self, children: Mapping[int, Child], config: Callable[[], Config]) -> None:
        self._children = children
        self._config = config
        self._learned: dict[tuple[str, int], Learned] = {}  # by cluster and node id

    def spread(self, worker: int, learned: Learned) -> None:
        """Tell the other workers what one worker learned, unless they were told before."""
        config, about = self._config(), (learned.cluster, learned.node_id)
        if learned.cluster not in config.clusters or self._learned.get(about) == learned:
            return
        self._learned[about] = learned
        if len(self._learned) > config.limits.brokers * len(config.clusters):
            del self._learned[next(iter(self._learned))]
        for other, child in self._children.items():
            if other != worker:
                child.outbox.put(learned)

    def tell(self, worker: int) -> None:
        """Tell one worker all of them."""
        for learned in self._learned.values():
            self._children[worker].outbox.put(learned)

    def forget_gone(self) -> None:
        """Forget those of clusters that are not in force any more."""
        clusters = self._config().clusters
        self._learned = {about: it for about, it in self._learned.items() if it.cluster in clusters}
