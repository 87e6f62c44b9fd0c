"""Beginning: a journal begins when the proxy starts, or as soon as its disk takes the first segment.

Rules:
* First the segments that a killed writer left are sealed, and then the chain begins. If the disk refuses any of that,
  the next try does the rest.
* A disk that refuses writes may take them later: it is full or its quota is used up, it is mounted read-only, or it has
  errors. Any other error is a mistake of the configuration, e.g. a folder that the proxy may not write.
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from plugins.audit.chain import Chain
from plugins.audit.recovery import newest_seals, recover
from plugins.audit.signing import fingerprint, key_text, signing_key
from proxy.plugin import LineWriter

OF_THE_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
SEALED = "audit segment of a killed writer sealed"


def may_pass(error: OSError) -> bool:
    """Whether this is an error of the disk, so that the same call may succeed later."""
    return error.errno in OF_THE_DISK


def begun(
    journal: Path, key_file: Path, tell: LineWriter, chain: Callable[[Ed25519PrivateKey, dict[str, str]], Chain]
) -> Chain:
    """Seal the segments that a killed writer left, and begin a chain. Raises KeyFileError, OSError.

    `chain` begins it with the key that signs seals, and with the hash of the newest seal of each other chain.
    """
    journal.mkdir(parents=True, exist_ok=True)
    key = signing_key(key_file)
    recover(journal, key, lambda left: tell(SEALED, level="warning", segment=str(left)))
    made = chain(key, newest_seals(journal))
    tell("audit journal begun", folder=str(journal), key=fingerprint(key_text(key.public_key())))
    return made
