"""Alone: one run of the reports at a time writes a folder. Two would mix their tables and break each other's store.

Rules:
* The lock (flock) is on the folder itself, so that no file stays. It ends with the process, however that ends.
* Nobody waits for it: a run may take hours.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from plugins.audit.reports.pipeline.place import PlaceError
from proxy.plugin.files import lock_if_free


@contextmanager
def alone(folders: Iterable[Path]) -> Iterator[None]:
    """Make these folders, and hold their locks within this context. Raises PlaceError."""
    with ExitStack() as held:
        for folder in sorted({one.resolve() for one in folders}):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                held.callback(os.close, descriptor)
                is_free = lock_if_free(descriptor)
            except OSError as error:
                raise PlaceError(f"{folder}: cannot be written ({error.strerror}); give another folder") from None
            if not is_free:
                way_out = "wait for its end, or give another folder"
                raise PlaceError(f"{folder}: another run of the reports writes here; {way_out}")
        yield
