"""Options of `report`: what they say of the inputs of reports, and of how a topic is read.

Rules:
* A mistake ends the command before Spark starts.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

import click

from plugins.audit.reports import asked, tags
from plugins.audit.reports.facts import JournalFacts
from plugins.audit.reports.inputs import Inputs
from plugins.audit.reports.pipeline.audit_topic import PLAIN, AuditTopicPlace, TopicAccess, client_settings
from plugins.audit.reports.pipeline.place import PlaceError
from proxy.cli.ending import give_up
from proxy.cli.reached import NotReachedError, check_reached
from proxy.text.problems import BadFileError
from rules import load

T = TypeVar("T")
FILES = {"Rules": "rules", "Tags": "tags_file"}  # files whose hashes are on the page, and their options


def inputs_of(journal: str, said: dict[str, Any]) -> Inputs:
    """What the reports are about. They do not know their facts yet."""
    since = _moment(said["since"], said["zone"], "--from")
    until = _moment(said["until"], said["zone"], "--to")
    if since and until and since >= until:
        raise click.UsageError(f"--from {said['since']} is not before --to {said['until']}; give the later one as --to")
    return Inputs(
        JournalFacts(journal, False),
        since,
        until,
        zone=said["zone"].key,
        principals=said["principals"],
        topics=said["topics"],
        offsets=said["offsets"],
        rules=_file(said["rules"], load),
        rules_file=str(said["rules"] or ""),
        tags=_file(said["tags_file"], tags.load),
        files=tuple((name, _hashed(said[option])) for name, option in FILES.items() if said[option]),
        **({"hours": said["hours"]} if said["hours"] else {}),
    )


def access_of(journal: str, said: dict[str, Any], *, is_begun: bool) -> TopicAccess:
    """How a topic is read. `is_begun`: Spark is already running, so it downloads nothing."""
    config, jars, package = said["kafka_config"], said["jars"], said["packages"]
    try:
        topic = AuditTopicPlace.of(journal)
        if topic is None:
            if config or jars:
                raise click.UsageError(
                    f"--kafka-config and --jars are for a topic, and {journal} is none; leave them out"
                )
            return PLAIN
        settings = {} if config is None else client_settings(config)
        access = TopicAccess(settings, tuple(map(Path, jars.split(","))) if jars else (), package)
        access.check()
        check_reached(topic.brokers)
    except PlaceError as error:
        give_up(str(error))
    except NotReachedError as error:
        give_up(f"{topic}: {error}")
    if not jars and not is_begun:
        click.echo(f"Spark fetches {package} and what it needs from Maven Central, unless it has them", err=True)
    return access


def _moment(text: str | None, zone: ZoneInfo, option: str) -> datetime | None:
    try:
        return None if text is None else asked.moment(text, zone)
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint=option) from None


def _file(path: Path | None, load: Callable[[Path], T]) -> T | None:
    try:
        return None if path is None else load(path)
    except BadFileError as error:
        give_up("\n".join(map(str, error.problems)))


def _hashed(path: Path) -> str:
    return f"{path}, SHA-256 {sha256(path.read_bytes()).hexdigest()}"
