"""The log as a list of lines."""

from __future__ import annotations

from proxy import logs


class Written:
    """All lines from now on."""

    def __init__(self, form: logs.Format = "auto", *, terminal: bool = False, verbose: bool = False) -> None:
        self.lines: list[str] = []
        logs.configure(self.lines.append, form, terminal=terminal, verbose=verbose)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)
