"""Chance: pseudo-random numbers that are a hash of the seed and of the decision they are for.

Rules:
* The same seed and the same words give the same number, in every process, on every machine, in any order of calls.
* There is no state between two draws. A rule that is asked more often, or a rule that is added, changes no other rule's
  numbers.
"""

import hashlib

_BYTES = 8
_SCALE = 1.0 / (1 << 8 * _BYTES)


def chance(seed: int, *what: str | int) -> float:
    """A pseudo-random number: at least 0.0, less than 1.0."""
    said = "\0".join(map(str, (seed, *what)))
    # A float holds 53 bits. With more of them the largest number would be rounded to 1.0.
    drawn = int.from_bytes(hashlib.blake2b(said.encode("utf-8", "surrogateescape"), digest_size=_BYTES).digest())
    return (drawn >> 11 << 11) * _SCALE
