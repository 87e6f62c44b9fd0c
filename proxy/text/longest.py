"""Longest: how long one value of a file may be. libyaml reads a value in one go, and nobody else runs meanwhile.

What a value is, only the parser knows. So a text is refused that has no place in it, for so long, where one could end:
a text of ordinary lines, or of lists on one line, has one within some hundred characters.
"""

from __future__ import annotations

import yaml

LONGEST = 1 << 20  # characters, which take 30 to 50 ms
ENDS = "\n,"  # what can end a value


def check_values(text: str) -> None:
    """Raises yaml.MarkedYAMLError where a value is too long."""
    start = 0
    while len(text) - start > LONGEST:
        end = max(text.rfind(sign, start, start + LONGEST) for sign in ENDS)
        if end < 0:
            line, column = text.count("\n", 0, start), start - text.rfind("\n", 0, start) - 1
            mark = yaml.Mark("", start, line, column, None, 0)
            raise yaml.MarkedYAMLError(problem=f"a value of more than {LONGEST:,} characters", problem_mark=mark)
        start = end + 1
