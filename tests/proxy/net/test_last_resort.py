"""The line of the last resort names threads that are at work. `test_supervisor.py` has the end of whole processes."""

from __future__ import annotations

import json
import subprocess
import sys
import threading

import trio

from proxy.net.last_resort import at_work

HANGS = """
import threading
from proxy import logs
from proxy.net.last_resort import LastResort
logs.begin("json")
with LastResort(7) as last_resort:
    last_resort.begin(0.01)
    last_resort.begin(3600)
    hang = threading.Thread(target=threading.Event().wait, name="hangs")
    hang.start()
    hang.join()
"""

ENDS = """
import threading
from proxy.net.last_resort import LastResort
with LastResort(7) as last_resort:
    last_resort.begin(3600)
(watching,) = [thread for thread in threading.enumerate() if thread.name == "last resort"]
watching.join()
"""


def test_a_process_with_a_thread_that_hangs_ends_with_a_line() -> None:
    done = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=60)
    (line,) = map(json.loads, done.stderr.splitlines())
    assert (done.returncode, line["event"]) == (7, "ended by force")
    assert line["hung"][0].startswith("hangs, in Condition.wait at ")


def test_a_process_that_ends_in_time_ends_as_it_wants() -> None:
    done = subprocess.run([sys.executable, "-c", ENDS], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


async def test_threads_that_are_at_work_are_named_with_their_places_and_no_others() -> None:
    begun, let_go = threading.Event(), threading.Event()

    def read_slowly() -> None:
        begun.set()
        let_go.wait()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.to_thread.run_sync, read_slowly)
        await trio.to_thread.run_sync(begun.wait)  # its own thread is idle from now on
        found = [each for each in at_work() if each.startswith("read_slowly from ")]
        let_go.set()
    assert [f"read_slowly at {__file__}:" in each for each in found] == [True]
    while any(each.startswith("read_slowly from ") for each in at_work()):
        await trio.sleep(0)
