"""Cut: a text of any length as one that fits into a line."""

from collections.abc import Mapping

SHORT = 200  # characters: what a client or a broker wrote, or caused
LONG = 4000  # anything else: operators' files have many problems at once


def cut(text: str, longest: int = SHORT) -> str:
    """The text, or its beginning and its end, and how long it is: what we say around a quoted text stays readable."""
    if len(text) <= longest:
        return text
    end = longest // 4
    return f"{text[: longest - end]}…{text[-end:]} ({len(text)} characters)"


def short(facts: Mapping[str, object]) -> dict[str, object]:
    """The same with all texts cut."""
    return {name: cut(value) if isinstance(value, str) else value for name, value in facts.items()}
