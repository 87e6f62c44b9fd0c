"""Keeping: the supervisor keeps the contents of the files in force, for a worker that replaces one.

If a file is broken while the proxy runs, its last good content stays in force in the workers. A worker that dies is
replaced, and its replacement finds the broken file. Without this it could not start, and soon nobody would be served.

Rules:
* A worker tells the supervisor the contents of each watched file that it takes. They are kept in memory alone, since
  keys and credentials are among them.
* A replacement reads the disk. If a file there is bad, it uses the content that was in force (`inherited`), says so in
  the log, and takes the next good file as any worker does.
* The content of a file that no worker uses any more is dropped: a configuration may have named other files.
* Two kinds of files are not kept: one that changed again before the supervisor was told its content, and one of more
  than 2 MiB. Then a replacement fails as long as the file is bad.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from weakref import WeakKeyDictionary

import trio

from proxy.net.channel import Lines, NonsenseError
from proxy.net.watching import EVERY, Watched
from proxy.text.stamp import Stamps
from proxy.text.watched import WatchedFile

MOST = 2 << 20  # bytes of a file


async def tell_files(watched: Callable[[], Sequence[Watched]], lines: Lines) -> None:
    """Tell the supervisor the contents of the watched files, of each that changes, and which are watched no more, until
    cancelled.
    """
    told: WeakKeyDictionary[WatchedFile[object], Stamps] = WeakKeyDictionary()
    names: set[str] = set()
    while True:
        present = [file for _, file in watched()]
        before, names = names, {name for file in present for name in file.files}
        if before - names:
            await lines.send({"in_force": dict.fromkeys(before - names)})
        for file in present:
            valid = file.valid
            if valid and told.get(file) != valid:
                told[file] = valid
                await lines.send({"in_force": await trio.to_thread.run_sync(_written, file)})
        await trio.sleep(EVERY)


def _written(file: WatchedFile[object]) -> dict[str, str | None]:
    contents = file.contents(MOST)
    return {name: None if it is None else base64.b64encode(it).decode() for name, it in contents.items()}


class KeptFiles:
    """The contents of files, as workers had them in force last."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}

    def take(self, told: object) -> None:
        """Take in what a worker tells. Raises NonsenseError."""
        if not isinstance(told, Mapping):
            raise NonsenseError("a line tells of files that cannot be")
        for name, content in told.items():
            if content is None:
                self.contents.pop(name, None)
            else:
                self.contents[name] = base64.b64decode(content)
