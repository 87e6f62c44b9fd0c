"""Chance without dice: what a seed, and what is being decided, come to.

# The same seed and the same words give the same number, in every process, on every machine, in any order of asking.
# There is nothing between two draws: that one rule is asked more often, or another one is added, changes no other.
"""

import hashlib

_BYTES = 8
_SCALE = 1.0 / (1 << 8 * _BYTES)


def chance(seed: int, *what: str | int) -> float:
    """A number that is as good as random: at least 0.0, less than 1.0."""
    said = "\0".join(map(str, (seed, *what)))
    # 53 bits are what a float holds: of more the largest would be 1.0.
    drawn = int.from_bytes(hashlib.blake2b(said.encode("utf-8", "surrogateescape"), digest_size=_BYTES).digest())
    return (drawn >> 11 << 11) * _SCALE
