"""Prints the report."""

from __future__ import annotations

import argparse
import sys

from tests.hostile.report import HEAD, line, logs, total
from tests.hostile.trial import Row
from tests.hostile.trials import chosen, trials


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.hostile", description=__doc__)
    parser.add_argument("--long", action="store_true", help="longer and larger attacks")
    parser.add_argument("-k", default="", metavar="WORDS", help="only cases with these words in class, name or setting")
    arguments = parser.parse_args()
    print(HEAD)
    rows: list[Row] = []
    for row in trials(chosen(arguments.k), long=arguments.long):
        rows.append(row)
        print(line(row), flush=True)
    print(f"\n{total(rows)}\n{logs(rows)}")
    return int(any(row.wrong for row in rows))


if __name__ == "__main__":
    sys.exit(main())
