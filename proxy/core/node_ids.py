"""Node ids as text, read as brokers read them: with Java's `Integer.parseInt`.

Rules:
* A sign may come first. Then come decimal digits of any script, at least one. `+1`, `0001` and U+0661 are 1, `-0` is 0.
* Any number of zeros may lead. The number has 32 bits.
* Java looks at UTF-16 units one by one, so digits beyond U+FFFF are none.
"""

from __future__ import annotations

import re

from proxy.core.addresses import LAST_NODE_ID

_INTEGER = re.compile(r"([+-]?)(\d+)")
_MOST = len(str(LAST_NODE_ID))  # digits
_LAST_UNIT = "\uffff"


def read_node_id(text: str) -> int | None:
    """The node id in this text, which may be negative; None where a broker finds none."""
    found = _INTEGER.fullmatch(text)
    if found is None or max(text) > _LAST_UNIT:
        return None
    sign, digits = found.groups()
    if any(int(digit) for digit in set(digits[:-_MOST])):
        return None
    number = int(sign + digits[-_MOST:])
    return number if -LAST_NODE_ID - 1 <= number <= LAST_NODE_ID else None
