"""Problems: what is wrong with bytes, and whose fault it is.

Rules:
* Bad bytes raise `ProtocolError`; no other exception leaves `proxy.protocol` because of them.
* A problem names whose fault it is, where it lies (api, version, field, position) and what is wrong.
"""

from enum import Enum


class Fault(Enum):
    """Who made the wrong bytes, or the wrong message."""

    CLIENT = "client"
    BROKER = "broker"
    OURS = "ours"  # a message that we were about to write


class ProtocolError(Exception):
    """Bytes that are no message, or a message that cannot be written.

    `position` counts bytes from the start of the data that was read; None: there is no place to name.
    """

    def __init__(
        self,
        what: str,
        *,
        fault: Fault | None = None,
        api: str | None = None,
        version: int | None = None,
        field: str | None = None,
        position: int | None = None,
    ) -> None:
        super().__init__(what)
        self.what = what
        self.fault = fault
        self.api = api
        self.version = version
        self.field = field
        self.position = position

    def __str__(self) -> str:
        """As one line: `Produce v9 request: topic_data[0].name ends past the frame, at byte 61`."""
        subject = self.api or ""
        if self.version is not None:
            subject += f" v{self.version}"
        line = f"{subject}: " if subject else ""
        if self.field:
            line += f"{self.field} "
        line += self.what
        if self.position is not None:
            line += f", at byte {self.position}"
        return line


class TooManyElementsError(ProtocolError):
    """A message has more elements than the limit says."""
