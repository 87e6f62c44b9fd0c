"""The account: what the demo's audit journal says of the demo, and the page of all reports on that journal."""

from __future__ import annotations

import os
import subprocess
import sys
import webbrowser
from collections import defaultdict
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from plugins.audit.reports.pipeline.session import FEW_ROWS
from plugins.audit.search import EventFilter, search
from plugins.audit.verify import verify
from proxy.cli.demo.stage import NotSeen

SECONDS = 600.0


@dataclass
class TopicAccount:
    """What happened to one topic: records written and read, requests refused, requests that met a fault."""

    written: int = 0
    read: int = 0
    refused: int = 0
    faults: int = 0


@dataclass
class Account:
    """A journal's content: how many events are proven to be unchanged, and an account of each topic."""

    events: int
    topics: dict[str, TopicAccount] = field(default_factory=lambda: defaultdict(TopicAccount))


def account(journal: Path) -> Account:
    """The account of a journal that is complete. Raises NotSeen."""
    verified = verify(journal)
    if verified.remarks or verified.open:
        raise NotSeen(f"a journal that is whole; of this one is said: {', '.join(map(str, verified.remarks))}")
    told = Account(verified.events)
    for event in search(journal, EventFilter(kind="request")):
        faults = sum("rule" in one for one in event.get("decisions") or ())
        for resource in event.get("resources") or ():
            if resource["type"] != "topic":
                continue
            topic = told.topics[resource.get("name") or resource["id"]]
            topic.refused += resource.get("error") == "TOPIC_AUTHORIZATION_FAILED"
            topic.faults += faults
            if event["api"] == "Fetch":
                topic.read += resource.get("records") or 0
            elif event["api"] == "Produce":
                topic.written += resource.get("records") or 0
    return told


def has_spark() -> bool:
    """Whether Spark is installed, so that a page can be made."""
    return find_spec("pyspark") is not None


def page(journal: Path, out: Path) -> Path:
    """Make the page as a user would. Returns its path. Raises NotSeen."""
    work = journal.with_name("work")
    command = [sys.executable, "-m", "proxy", "report", str(journal), "--out", str(out), "--work", str(work)]
    progress = None if sys.stderr.isatty() else subprocess.PIPE
    environ = FEW_ROWS | os.environ
    try:
        done = subprocess.run(
            command, env=environ, stdout=subprocess.PIPE, stderr=progress, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotSeen(f"a page of reports within {SECONDS:g} s") from None
    if done.returncode:
        said = (done.stderr or "").strip().splitlines() or [f"its process ended with {done.returncode}"]
        raise NotSeen(f"a page of reports: {said[-1]}")
    return Path(done.stdout.strip())


def shown(page: Path) -> bool:
    """Open the page in a browser, if there is a terminal and a screen. Returns whether it did."""
    has_screen = sys.platform == "darwin" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))
    return sys.stdout.isatty() and has_screen and webbrowser.open(page.as_uri())
