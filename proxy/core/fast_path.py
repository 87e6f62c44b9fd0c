"""Fast path: what a plugin may say of frames that it need not see.

Rules:
* A request handler's `fast_path` knows requests that are like one which was let pass as it came: they pass without
  being assembled or read. It is asked only where all handlers that want to see the request have one. Where these are
  several, a request passes that all of them know; one that `counts` what passes is asked last, and only one may.
* Observers are shown the fields that they want of such a request even so. What they note of one is in no sample.
* What it gives is a sample (`Context.as_sample`): a request that passes so has a context of its own as soon as anybody
  is shown it, with a copy of the sample's notes.
* It may say of a request that was read how others begin that pass too (`Beginning`): those of its API and version whose
  first bytes are the same, all but the correlation id. Of these the handler is not even asked: that costs 0.3 us.
  Where some of the bytes are others each time, it looks at the rest of the frame alone.
* A response handler's `needed` is asked when the response begins, with the request's context or its sample, and
  changes neither. A response that nobody needs passes unread. Where the handler is `settled` for a fast path, it is not
  even asked about the answers to what that lets pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

from proxy.core.context import Connection, Context


class Beginning(NamedTuple):
    """How requests of a connection begin that pass: as far as to `end`.

    That holds until the client comes as another, or a plugin is given another state, or watches a file that changes.
    `rest` is asked about the frame from `end` on, which may not be whole yet (None: any may follow).
    """

    end: int
    rest: Callable[[memoryview], bool] | None = None


class FastPath(Protocol):
    """Knows requests that may pass unread.

    `keys`: under which its handlers note something of a request. `counts`: what `passes` lets pass changes what it lets
    pass next.
    """

    @property
    def keys(self) -> frozenset[Any]: ...
    @property
    def counts(self) -> bool: ...

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The sample that this request is like; None: it must be read.

        `api` is key << 16 | version, `length` that of the frame, of which `frame` may be but the beginning.
        """

    def passed(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        """This request was read and passes; its body begins at `body`. It has an answer.

        Gives how all begin that pass, if that can be said; of a Produce request that includes its acks.
        """


@dataclass(frozen=True)
class FastPaths:
    """Several of them, of different plugins, in the order in which they are asked."""

    paths: tuple[FastPath, ...]

    @property
    def keys(self) -> frozenset[Any]:
        """Those of all."""
        return frozenset().union(*(path.keys for path in self.paths))

    @property
    def counts(self) -> bool:
        """Does the last one?"""
        return self.paths[-1].counts

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """A sample that is like each of theirs in what its own handlers noted."""
        samples = []
        for path in self.paths:
            sample = path.passes(connection, api, frame, length)
            if sample is None:
                return None
            samples.append(sample)
        known: tuple[list[Context], Context] | None = connection.notes.get(self)
        if known is None or not all(map(_is_same, known[0], samples)):
            known = connection.notes[self] = samples, self._joined(samples)
        return known[1]

    def _joined(self, samples: list[Context]) -> Context:
        """One request that was like each of these may have had other notes of the other plugins."""
        notes = {
            key: note
            for path, sample in zip(self.paths, samples, strict=True)
            for key, note in sample.notes.items()
            if key in path.keys
        }
        return replace(samples[-1], notes=notes)

    def passed(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        """How requests begin that all of them let pass."""
        begins = [path.passed(ctx, frame, body) for path in self.paths]
        known = [each for each in begins if each is not None]
        if len(known) < len(begins) or any(each.rest is not None for each in known):
            return None
        return Beginning(max(each.end for each in known))


def _is_same(one: Context, other: Context) -> bool:
    return one is other


def joint(paths: Iterable[FastPath | None]) -> FastPath | None:
    """The one of handlers that have these; None where one has none, or where several count what passes."""
    found = list(dict.fromkeys(paths))
    if len(found) < 2:
        return found[0] if found else None
    asked = sorted((path for path in found if path is not None), key=lambda path: path.counts)
    if len(asked) < len(found) or sum(path.counts for path in asked) > 1:
        return None
    return FastPaths(tuple(asked))
