"""`python -m tests.real.ahead`: fetch the jars that tests ask for, before they do, and have Kafka's loaded once.

What cannot be fetched is said by the test that asks for it, which tries once more. Whoever asks for a set that is being
fetched waits for it (`jars.py`).
"""

from __future__ import annotations

import signal
from contextlib import suppress

from plugins.audit.reports.pipeline.java import NoJavaError
from tests.real.archive import loaded
from tests.real.cluster import JARS
from tests.real.jars import SETS, NoJarsError, jars

FOR_LONG_TESTS = {"hdfs-3.5.0"}


def main() -> None:
    # Ended early it leaves neither Ivy nor half a set behind, as with Ctrl-C, also where that is ignored.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with suppress(KeyboardInterrupt):
        for name in SETS:
            if name not in FOR_LONG_TESTS:
                with suppress(NoJarsError, NoJavaError):
                    jars(name)
                    if name == JARS:
                        loaded(name)


if __name__ == "__main__":
    main()
