"""Names: what may be the name of a user or of a delegation token, in any mechanism.

Rules:
* A name is UTF-8, at most 1,024 bytes long, and printable: no controls, no surrogates, nothing invisible.
* It has no white space at its ends: Kafka trims the subjects of some tokens and not of others.
* It is compared as it is. Kafka does not normalize names (RFC 4013), so neither do we.
"""

from __future__ import annotations

LONGEST = 1024  # bytes of a name, of a password, of a nonce; RFC 4616 asks for 255


class ClaimError(ValueError):
    """A client's claim is refused. `told`: what a broker would tell the client; None: only that it is refused."""

    def __init__(self, why: str, told: str | None = None) -> None:
        super().__init__(why)
        self.told = told


def text(data: bytes, what: str, longest: int = LONGEST) -> str:
    """Text of a sensible length. `what` names it in the reason for a refusal."""
    if not data:
        raise ClaimError(f"an empty {what}")
    if len(data) > longest:
        raise ClaimError(f"a {what} of {len(data):,} bytes, over the limit of {longest:,}")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ClaimError(f"a {what} that is not UTF-8") from None


def name(data: bytes) -> str:
    """A name."""
    found = text(data, "name")
    if not found.isprintable():
        raise ClaimError("a name with characters that cannot be seen")
    if found != found.strip():
        raise ClaimError("a name with white space at its ends")
    return found
