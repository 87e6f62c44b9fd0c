"""Fast path: how a plugin says which frames it need not see.

Rules:
* A request handler's `fast_path` recognizes requests that are like one that passed unchanged. They pass without being
  assembled or read. It is asked only if all handlers that want the request have a fast path. If there are several, a
  request passes only if all of them recognize it. At most one of them may be one that `counts`, and it is asked last.
* Observers are still shown the fields that they want of such a request. Their notes of it are in no sample.
* The fast path returns a sample (`Context.as_sample`). A request that passes has a context of its own, with a copy of
  the sample's notes, as soon as any plugin is shown it.
* A request may pass before it is whole. If what allowed it can end meanwhile, the sample says so (`Context.still`): it
  is asked when the last byte has come. If the answer is no, that byte is withheld and the connection ends.
* When a request was read, the fast path may say how requests begin that pass too (`Beginning`): those of the same API
  and version that have the same first bytes, except for the correlation id. The fast path is not asked about these:
  they pass in 0.3 us. If bytes behind the beginning matter too, only these are looked at (`Beginning.rest`). A request
  that has even more bytes in common with the one that was read needs no such look, or a shorter one (`Certain`).
  Observers are shown the topics of such requests. If an observer wants more of an API, no beginnings are learned.
* What a fast path keeps of a connection is in `connection.samples`. It is forgotten when other filters come into force,
  and with the beginnings.
* A response handler's `needed` is asked when the response begins. It is given the request's context or its sample, and
  changes neither. A response that no handler needs passes unread.
* A handler with `on_error` may also need a response that has an error of its own. So the error code is looked at.
* A handler may name a fast path as `unneeded_after`. Then it is not asked about answers to requests which that fast
  path let pass. If it names the fast path as `unneeded_while`, the sample is asked in its place (`Context.unneeded`),
  which takes less time. The error code is then looked at only if the sample `minds_errors`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from operator import is_
from typing import Any, NamedTuple, Protocol

from proxy.core.context import Connection, Context

AskRest = Callable[[memoryview, int, int], bool]  # the data, and where in it the rest of a frame begins and ends


def _always() -> bool:
    return True


class Certain(NamedTuple):
    """Requests that pass while `holds`, because they have the same bytes up to `end`, except in `varying`.

    `exact`: they end there. They name the same topics as the request that was learned. `rest`: is asked about a whole
    one in place of `holds`, as the beginning's `rest` is.
    """

    end: int
    holds: Callable[[], bool] = _always
    varying: Sequence[tuple[int, int]] = ()
    exact: bool = False
    rest: AskRest | None = None


class Beginning(NamedTuple):
    """How passing requests of a connection begin: with the same bytes up to `end`.

    It holds until the client authenticates again or changes its client id, a plugin is given another state, or a file
    that a plugin watches changes. `rest` is asked about the frame from `end` on (None: anything may follow). The data
    may end before the frame does; `whole`: it is only asked about a whole one. `sample`: the one that they are like;
    None: one of the request that was learned. `certain`: which of them pass without asking this `rest`; None: this
    cannot be said of any.
    """

    end: int
    rest: AskRest | None = None
    sample: Context | None = None
    certain: Certain | None = None
    whole: bool = False


class FastPath(Protocol):
    """Recognizes requests that may pass unread.

    `keys`: the keys under which its handlers note something about a request. `counts`: each request that `passes` lets
    pass changes which it lets pass next.
    """

    @property
    def keys(self) -> frozenset[Any]: ...
    @property
    def counts(self) -> bool: ...

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The sample that this request is like; None: the request must be read.

        `api` is key << 16 | version. `length` is that of the whole frame; `frame` may be only its beginning.
        """

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        """Learn of a request that was read and passes: its body begins at `body`. It has an answer.

        Returns how all requests begin that pass, if that can be said. For a Produce request that includes its acks.
        """


@dataclass(frozen=True)
class FastPaths:
    """Several fast paths, of different plugins, in the order in which they are asked."""

    paths: tuple[FastPath, ...]

    @property
    def keys(self) -> frozenset[Any]:
        """The keys of all paths."""
        return frozenset().union(*(path.keys for path in self.paths))

    @property
    def counts(self) -> bool:
        """Does the last path count?"""
        return self.paths[-1].counts

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """One sample that joins the samples of all paths."""
        samples = []
        for path in self.paths:
            sample = path.passes(connection, api, frame, length)
            if sample is None:
                return None
            samples.append(sample)
        known: tuple[list[Context], Context] | None = connection.samples.get(self)
        if known is None or not all(map(is_, known[0], samples)):
            known = connection.samples[self] = samples, self._joined(samples)
        return known[1]

    def _joined(self, samples: list[Context]) -> Context:
        """The notes of each path's own handlers, from that path's sample: other plugins' notes in it may differ."""
        notes = {
            key: note
            for path, sample in zip(self.paths, samples, strict=True)
            for key, note in sample.notes.items()
            if key in path.keys
        }
        joined = samples[-1].with_notes(notes)
        asked = [sample.still for sample in samples if sample.still is not None]
        joined.still = (lambda: all(still() for still in asked)) if asked else None
        joined.unneeded = None  # each speaks for its own handlers: these are asked
        return joined

    def learn(self, ctx: Context, frame: memoryview, body: int) -> Beginning | None:
        """How requests begin that all paths let pass."""
        begins = [path.learn(ctx, frame, body) for path in self.paths]
        known = [each for each in begins if each is not None]
        if len(known) < len(begins) or any(each.rest is not None for each in known):
            return None
        return Beginning(max(each.end for each in known))


def joint(paths: Iterable[FastPath | None]) -> FastPath | None:
    """The joint fast path of handlers that have these; None if one has none, or if several count what passes."""
    found = list(dict.fromkeys(paths))
    if len(found) < 2:
        return found[0] if found else None
    asked = sorted((path for path in found if path is not None), key=lambda path: path.counts)
    if len(asked) < len(found) or sum(path.counts for path in asked) > 1:
        return None
    return FastPaths(tuple(asked))
