"""Charts as SVG: bars, lines, a heat map. They need no script, and take their colours from the page.

Rules:
* The number of elements is bounded: the largest are drawn, and the rest together as "all others".
* People with any kind of colour blindness can tell the colours apart; lines differ in their dashes too.
* A screen reader reads the title and the largest figures.
* Each figure is a link to the first of its rows. The keyboard reaches bars and lines; a heat map has too many cells for
  that, and the rows are below it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from html import escape

from plugins.audit.reports.render.written import cut, visible
from plugins.audit.reports.report import Chart, ChartKind

WIDTH = 720
BARS = 12
SERIES = 6
SIDE = 24  # cells of a heat map, down; across it has room for more
POINTS = 400  # of a line
LETTER = 7.4  # width of one, or a little less
OTHERS = "all others"
_ROW = 22  # height of a line of text
_NAMES = 190  # width of the names of a heat map's rows
_SLANTED = 120  # height of slanted names of its columns, and the room that the last one needs

Sums = Mapping[tuple[str, str], int]  # y for each (x, by)
Totals = list[tuple[str, int]]
LinkTarget = Callable[[str | None, str | None], str]  # gives the id of a row in the page with this x and by; None: any


def drawn(chart: Chart, name: str, sums: Sums, target: LinkTarget) -> str:
    """A chart of these sums; empty text if there are none. `name` is unique in the page."""
    sums = {key: value for key, value in sums.items() if value}
    if not sums:
        return ""
    draw = {ChartKind.BARS: _bars, ChartKind.LINES: _lines, ChartKind.HEAT: _heat}[chart.kind]
    height, heard, marks = draw(sums, target)
    spoken = "; ".join(f"{visible(cut(label))}: {value:,}" for label, value in heard[:5])
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="group" aria-labelledby="{name}-title {name}-said">'
        f'<title id="{name}-title">{escape(chart.title)}</title><desc id="{name}-said">{escape(spoken)}</desc>'
        f"{''.join(marks)}</svg>"
    )


def short(value: int) -> str:
    """A number short enough for a label: 12.3 k, 4.0 M."""
    for size, sign in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if abs(value) >= size:
            return f"{value / size:.1f} {sign}"
    return str(value)


def _bars(sums: Sums, target: LinkTarget) -> tuple[int, Totals, Iterator[str]]:
    shown = _largest(_totals(sums, 0), BARS)
    return len(shown) * _ROW + 4, shown, _each_bar(shown, target)


def _each_bar(shown: Totals, target: LinkTarget) -> Iterator[str]:
    left, room = 250, WIDTH - 250 - 70
    most = max(value for _, value in shown) or 1
    for number, (label, value) in enumerate(shown):
        y, width = number * _ROW, max(value * room // most, 1)
        yield _text(left - 8, y + 15, label, "end", left - 8)
        bar = f'<rect class="c0" x="{left}" y="{y + 3}" width="{width}" height="{_ROW - 6}"/>'
        yield _link(target(label, None), label, value, bar)
        yield _text(left + width + 6, y + 15, short(value))


def _lines(sums: Sums, target: LinkTarget) -> tuple[int, Totals, Iterator[str]]:
    series = _largest(_totals(sums, 1), SERIES)
    height = 196 + _ROW * (len(series) + 1) // 2 + _ROW
    return height, series, _each_line(sums, [label for label, _ in series], target)


def _each_line(sums: Sums, names: list[str], target: LinkTarget) -> Iterator[str]:
    xs = sorted({x for x, _ in sums})[-POINTS:]
    lines: dict[str, dict[str, int]] = {name: {} for name in names}
    for (x, by), value in sums.items():
        line = lines[by if by in lines else OTHERS]
        line[x] = line.get(x, 0) + value
    most = max(value for line in lines.values() for value in line.values()) or 1
    left, bottom = 60, 170
    step = (WIDTH - left - 40) / max(len(xs) - 1, 1) if len(xs) > 1 else 6
    for part in (0, 1, 2):
        y = bottom - part * (bottom - 10) / 2
        yield f'<line class="axis" x1="{left}" x2="{WIDTH - 40}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(left - 6, y + 4, short(most * part // 2), "end")
    for number, (name, line) in enumerate(lines.items()):
        heights = [bottom - line.get(x, 0) * (bottom - 10) / most for x in xs]
        heights = heights if len(heights) > 1 else heights * 2  # a single point is a dash
        points = " ".join(f"{left + place * step:.1f},{height:.1f}" for place, height in enumerate(heights))
        drawn = f'<polyline class="l{number}" points="{points}"/>'
        yield _link(target(None, name), name, sum(line.values()), drawn)
        if names != [""]:
            across, down = left + number % 2 * 320, bottom + 36 + number // 2 * _ROW
            yield f'<polyline class="l{number}" points="{across},{down} {across + 24},{down}"/>'
            yield _text(across + 30, down + 4, name)
    for place in sorted({place * (len(xs) - 1) // 5 for place in range(6)}):
        yield _text(left + place * step, bottom + 18, xs[place], "middle")


def _heat(sums: Sums, target: LinkTarget) -> tuple[int, Totals, Iterator[str]]:
    rows = [label for label, _ in _largest(_totals(sums, 1), SIDE)]
    if OTHERS not in rows:
        rows.sort()
    columns = sorted(label for label, _ in _largest(_totals(sums, 0), SIDE + 8))
    is_slanted = max(map(len, columns)) * LETTER > (WIDTH - _NAMES) / len(columns)
    top = _SLANTED if is_slanted else 22
    marks = (*_each_column(columns, top, is_slanted), *_each_cell(sums, rows, columns, top, target))
    return top + 2 + 18 * len(rows), _largest(_totals(sums, 0), SIDE), iter(marks)


def _column(across: int, columns: list[str], is_slanted: bool) -> tuple[float, float]:
    """Where a column begins, and its width. Slanted names need room beyond the last column."""
    width = (WIDTH - _NAMES - (_SLANTED if is_slanted else 4)) / len(columns)
    return _NAMES + across * width, width


def _each_column(columns: list[str], top: int, is_slanted: bool) -> Iterator[str]:
    for across, column in enumerate(columns):
        x, width = _column(across, columns, is_slanted)
        if is_slanted:
            x, y = x + min(width / 2, 20), top - 4
            yield _text(x, y, column, "start", _SLANTED * 1.4, f' transform="rotate(-45 {x:.1f} {y:.1f})"')
        else:
            yield _text(x, 14, column, "start", width - 4)


def _each_cell(sums: Sums, rows: list[str], columns: list[str], top: int, target: LinkTarget) -> Iterator[str]:
    cells: dict[tuple[str, str], int] = {}
    for (x, by), value in sums.items():
        key = x if x in columns else OTHERS, by if by in rows else OTHERS
        cells[key] = cells.get(key, 0) + value
    most = max(cells.values()) or 1
    for across, column in enumerate(columns):
        left, width = _column(across, columns, top == _SLANTED)
        for down, row in enumerate(rows):
            value = cells.get((column, row), 0)
            if value:
                place = f'x="{left:.1f}" y="{top + down * 18}" width="{width - 1:.1f}" height="17"'
                strength = 0.15 + 0.85 * value / most
                cell = f'<rect class="c0" {place} fill-opacity="{strength:.2f}"/>'
                yield _link(target(column, row), f"{row}, {column}", value, cell, ' tabindex="-1"')
    for down, row in enumerate(rows):
        yield _text(_NAMES - 8, top + 13 + down * 18, row, "end", _NAMES - 8)


def _totals(sums: Sums, part: int) -> dict[str, int]:
    totals: dict[str, int] = {}
    for key, value in sums.items():
        totals[key[part]] = totals.get(key[part], 0) + value
    return totals


def _largest(totals: Mapping[str, int], most: int) -> Totals:
    """The largest totals, and the rest as one."""
    known = sorted(
        ((label, value) for label, value in totals.items() if label != OTHERS), key=lambda one: (-one[1], one[0])
    )
    rest = sum(value for _, value in known[most:]) + totals.get(OTHERS, 0)
    return known[:most] + ([(OTHERS, rest)] if len(known) > most or OTHERS in totals else [])


def _text(x: float, y: float, text: str, anchor: str = "start", room: float = 280, more: str = "") -> str:
    """A label, cut to the room that it has."""
    shown, most = visible(text), max(int(room / LETTER), 2)
    cut = shown if len(shown) <= most else f"{shown[: most - 1]}…"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{escape(cut)}</text>'


def _link(target: str, label: str, value: int, mark: str, more: str = "") -> str:
    """A figure that links to its rows, with its name and value as a tooltip."""
    tip = f"{escape(visible(cut(label)))}: {value:,}"
    return f'<a href="#{target}"{more}><title>{tip}</title>{mark}</a>'
