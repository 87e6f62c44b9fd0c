"""Plugin start: how long a plugin may take to start, and why it cannot.

Rules:
* A reason why a plugin cannot be made or started is in words, and has a way out (StartError).
* When the proxy starts, a plugin is waited for. A line says if that takes long.
* When a configuration changes, the start of a plugin is given up after a time. Its thread cannot be ended, so the
  plugin is stopped once it has started. Until then, nothing but the end of the proxy waits for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import structlog
import trio

from proxy.core.failure import FAILURES, raised_at
from proxy.core.services import PluginError
from proxy.net.process import StartError
from proxy.text.problems import BadFileError
from proxy.text.scarce import scarcity

log = structlog.get_logger()

SLOW = 10.0  # seconds after which a start or a stop is said to go on
GIVEN_UP = "if it hangs, its start is given up soon, and the configuration that was read before stays in force"


@contextmanager
def reasons(name: str) -> Iterator[None]:
    """Raises StartError with the reason why the plugin of this name cannot be made or started."""
    try:
        yield
    except BadFileError as error:  # it names the place itself
        raise StartError(str(error)) from None
    except PluginError as error:
        raise StartError(f'plugin "{name}": {error}') from None
    except FAILURES as error:
        if scarcity(error) is not None:
            raise  # it is no fault of the plugin
        # A bug of the plugin prevents the proxy's start, or another configuration.
        failure = f"{type(error).__name__}: {error}, at {raised_at(error)}"
        raise StartError(f'plugin "{name}" failed: {failure}; leave it out, or mend it') from None


class PluginStart:
    """One start of a plugin. It is given up at `until`, by trio's clock; `status` gets whether it started by then."""

    def __init__(self, name: str, cluster: str, until: float, status: trio.TaskStatus[bool]) -> None:
        self.is_given_up = False
        self._facts = {"plugin": name, "cluster": cluster}
        self._until = until
        self._status = status

    async def watch(self, way_out: str) -> None:
        """Say if the start is slow, and give it up in time. Goes on until cancelled."""
        with trio.move_on_at(self._until):
            await trio.sleep(SLOW)
            why = f"its start has taken {SLOW:g} s, and is waited for"
            way_out = way_out if self._until == inf else GIVEN_UP
            log.warning("plugin not started yet", **self._facts, why=why, way_out=way_out)
            await trio.sleep_forever()
        self.is_given_up = True
        self._status.started(False)
        await trio.sleep_forever()

    @contextmanager
    def failing(self) -> Iterator[None]:
        """What the start raises in here goes no further if it is given up: nobody waits for it any more."""
        try:
            with reasons(self._facts["plugin"]):
                yield
        except FAILURES as error:
            if not self.is_given_up:
                raise
            log.warning("plugin failed after its start was given up", **self._facts, why=str(error))
