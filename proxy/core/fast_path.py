"""Fast path: what a plugin may say of frames that it need not see.

Rules:
* A request handler's `fast_path` knows requests that are like one which was let pass as it came: they pass without
  being assembled or read. It is asked only where no other handler wants to see the request.
* Observers are shown the fields that they want of such a request even so. What they note of one is in no sample.
* What it gives is a sample (`Context.as_sample`): a request that passes so has a context of its own as soon as anybody
  is shown it, with a copy of the sample's notes.
* A response handler's `needed` is asked when the response begins, with the request's context or its sample, and
  changes neither. A response that nobody needs passes unread. Where the handler is `settled` for a fast path, it is not
  even asked about the answers to what that lets pass.
"""

from __future__ import annotations

from typing import Protocol

from proxy.core.context import Connection, Context


class FastPath(Protocol):
    """Knows requests that may pass unread."""

    def passes(self, connection: Connection, api: int, frame: memoryview, length: int) -> Context | None:
        """The sample that this request is like; None: it must be read.

        `api` is key << 16 | version, `length` that of the frame, of which `frame` may be but the beginning.
        """

    def passed(self, ctx: Context, frame: memoryview, body: int) -> None:
        """This request was read and passes; its body begins at `body`. It has an answer."""
