"""The page of the journal's schema: tables in Markdown, made from the declaration itself.

`python -m plugins.audit.page` renews them in `README.md` beside this module; a test fails when they are stale. The text
above them in that page is written by hand.
"""

from collections.abc import Iterable
from pathlib import Path

from plugins.audit.columns import Column
from plugins.audit.schema import KINDS, VERSION, table

PAGE = Path(__file__).with_name("README.md")
START = "| kind | what happened |\n|---|---|\n"


def tables() -> str:
    """The kinds of events, all fields, and those of the structs in them."""
    kinds = "".join(f"| `{kind}` | {text} |\n" for kind, (text, _) in KINDS.items())
    return START + kinds + "\n" + _fields(f"Fields, version {VERSION}", table())


def renewed(page: str) -> str:
    """The page with new tables, which are its last part. Raises ValueError if it has none."""
    above, start, _ = page.partition(START)
    if not start:
        raise ValueError(f"{PAGE} has no table of kinds; write its first two lines:\n{START}")
    return above + tables()


def _fields(title: str, columns: Iterable[Column]) -> str:
    columns = tuple(columns)
    rows = (f"| `{one.name}` | {_type(one)} | {one.since} | {one.meaning} |\n" for one in columns)
    text = f"### {title}\n\n| field | type | since | meaning |\n|---|---|---|---|\n" + "".join(rows)
    return text + "".join("\n" + _fields(f"In `{one.name}`", one.inner) for one in columns if one.inner)


def _type(column: Column) -> str:
    return "array of structs, below" if column.inner else f"`{column.type}`"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
