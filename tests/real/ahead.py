"""`python -m tests.real.ahead`: fetch the jars of the tests in advance, and make the archive of Kafka's classes.

A failed fetch is not reported here: the test that needs the jars tries again, and reports it. A test that needs a set
which is being fetched waits for it (`jars.py`).
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
    # SIGTERM ends it as Ctrl-C does, even where Ctrl-C is ignored: no Ivy process and no partial set stays behind.
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
