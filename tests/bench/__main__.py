"""`python -m tests.bench`: Doorkeeper, nothing, and other proxies, side by side in one run."""

from __future__ import annotations

import json
import signal
import sys
import tempfile
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

import click

from tests.bench import codec, perf_tools
from tests.bench.acl import ACL_CONTENDERS, ACL_WORKLOADS
from tests.bench.audited import AUDITED_CONTENDERS, AUDITED_WORKLOADS
from tests.bench.compare import Line, compare
from tests.bench.contenders import CONTENDERS, Contender
from tests.bench.faults import FAULTS_CONTENDERS, FAULTS_WORKLOADS
from tests.bench.lane import Lane
from tests.bench.observed import OBSERVED_CONTENDERS, OBSERVED_WORKLOADS
from tests.bench.processes import Machine
from tests.bench.report import Verdict, comparison, judgement, verdicts
from tests.bench.rig import RigError
from tests.bench.sealed import SEALED_CONTENDERS, SEALED_WORKLOADS
from tests.bench.workloads import DIRECT, WORKLOADS, Workload

CODEC, PERF_TOOLS = "codec", "perf-tools"
QUIET = 0.05  # of the machine: other programs may take this share without a notice
LOUD = 0.3  # above this share even CPU times are too long: caches are cold whenever another program had run
COMPARED = (
    (WORKLOADS, CONTENDERS),
    (SEALED_WORKLOADS, SEALED_CONTENDERS),
    (ACL_WORKLOADS, ACL_CONTENDERS),
    (OBSERVED_WORKLOADS, OBSERVED_CONTENDERS),
    (AUDITED_WORKLOADS, AUDITED_CONTENDERS),
    (FAULTS_WORKLOADS, FAULTS_CONTENDERS),
)
PARTS = (*(workload.name for workloads, _ in COMPARED for workload in workloads), CODEC, PERF_TOOLS)


@click.command()
@click.option("--quick", is_flag=True, help="One short round, without Kafka's perf tools.")
@click.option(
    "--rounds",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Samples of each workload; medians are reported.",
)
@click.option("--seconds", type=click.FloatRange(min=0.1), default=2.0, show_default=True, help="Length of a sample.")
@click.option(
    "--only",
    multiple=True,
    metavar="NAME",
    type=click.Choice(PARTS),
    help=f"Measure only this; may be given again. One of: {', '.join(PARTS)}.",
)
@click.option(
    "--against",
    multiple=True,
    metavar="NAME",
    type=click.Choice([each.name for each in CONTENDERS]),
    help="Measure only these contenders (and direct); may be given again. "
    f"One of: {', '.join(each.name for each in CONTENDERS)}.",
)
@click.option("--json", "file", type=click.Path(dir_okay=False, path_type=Path), help="Write all samples there.")
@click.option("--strict", is_flag=True, help="Exit with 1 where a target is not met.")
def main(
    quick: bool,
    rounds: int,
    seconds: float,
    only: Sequence[str],
    against: Sequence[str],
    file: Path | None,
    strict: bool,
) -> None:
    """Measure Doorkeeper beside nothing ("direct") and beside other proxies.

    The clients and the brokers are small C programs (gcc builds them on first use), so that Python is measured only
    where Doorkeeper is. Absolute figures say much about the machine: read the shares of direct, the CPU time, and the
    added latency. Whoever is not installed is left out, with a line that says how to install it.

    \b
    Everything, about 15 minutes:       python -m tests.bench
    Half a minute:                      python -m tests.bench --quick
    One line, against HAProxy alone:    python -m tests.bench --only 50x100 --against doorkeeper --against haproxy
    """
    if quick:
        rounds, seconds = 1, min(seconds, 0.7)
    wanted = only or [name for name in PARTS if not (quick and name == PERF_TOOLS)]
    found: list[Verdict] = []
    lines: list[Line] = []
    try:
        for all_workloads, all_contenders in COMPARED:
            if workloads := [each for each in all_workloads if each.name in wanted]:
                compared, reached = measure(workloads, present(all_contenders, against), rounds, seconds)
                lines += compared
                found += reached
        if file:
            file.write_text(json.dumps([samples(line) for line in lines], indent=1))
        if CODEC in wanted:
            text, reached = codec.measure()
            click.echo(f"\n{text}")
            found += reached
        if PERF_TOOLS in wanted:
            click.echo(f"\n{perf_tools.measure(present(CONTENDERS, against), progress)}")
            progress("")
    except RigError as problem:
        raise click.ClickException(str(problem)) from None
    if found:
        click.echo(f"\n{judgement(found)}")
    if strict and not all(each.target.met(each.value) for each in found):
        sys.exit(1)


def present(contenders: Iterable[Contender], against: Sequence[str]) -> list[Contender]:
    """The wanted contenders that are installed; prints how to install the missing ones."""
    found = []
    for contender in contenders:
        if against and contender.name not in (*against, DIRECT):
            continue
        if hint := contender.missing():
            click.echo(f"without {contender.name}: {hint}")
        else:
            found.append(contender)
    return found


def measure(
    workloads: Sequence[Workload], contenders: Sequence[Contender], rounds: int, seconds: float
) -> tuple[list[Line], list[Verdict]]:
    """Run the workloads on all contenders and print the tables; also gives the verdicts on targets."""
    if not contenders:
        return [], []
    with tempfile.TemporaryDirectory(prefix="doorkeeper-bench-") as folder, ExitStack() as stack:
        lanes: dict[Contender, Lane] = {}
        for each in contenders:
            shared = (lane for other, lane in lanes.items() if each.reloads and other.reloads)
            lanes[each] = next(shared, None) or stack.enter_context(Lane(each, Path(folder, each.name)))
        machine = Machine()
        lines = compare(lanes, workloads, rounds, seconds, progress)
        others = machine.taken_by_others()
    progress("")
    if others > LOUD:
        click.echo(f"\nother programs took {others:.0%} of the machine: run again when it is quieter")
    elif others > QUIET:
        click.echo(f"\nother programs took {others:.0%} of the machine: see the shares by CPU time")
    for part in comparison(lines, [each.name for each in lanes]):
        click.echo(f"\n{part}")
    return lines, list(verdicts(lines, others > QUIET))


def samples(line: Line) -> dict[str, object]:
    """All samples of one workload, for other programs to read."""
    return {
        "workload": line.workload.name,
        "rounds": [{name: asdict(sample) for name, sample in each.items()} for each in line.rounds],
        "problems": dict(line.problems),
    }


def progress(text: str) -> None:
    """Print the current step, on a terminal only."""
    if sys.stderr.isatty():
        click.echo(f"\r\033[K{text}", nl=False, err=True)


if __name__ == "__main__":
    # SIGTERM (from `timeout`, for example) leaves no program running, as with Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    main(prog_name="python -m tests.bench")
