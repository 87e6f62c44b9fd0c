"""Cut: shortens a text of any length so that it fits into a line."""

from collections.abc import Mapping

SHORT = 200  # characters of a text that a client or a broker wrote or caused
LONG = 4000  # characters of any other text: an operator's file may have many problems at once


def cut(text: str, longest: int = SHORT) -> str:
    """The text, or its beginning, its end and its length. The words that we put around a quoted text stay readable."""
    if len(text) <= longest:
        return text
    end = longest // 4
    return f"{text[: longest - end]}…{text[-end:]} ({len(text)} characters)"


def short(facts: Mapping[str, object]) -> dict[str, object]:
    """The same fields with all texts cut."""
    return {name: cut(value) if isinstance(value, str) else value for name, value in facts.items()}
