"""Words for people: a refusal, a value as it is shown, and the valid word that a misspelt one stands for.

A refusal is "fact; way out". A validator raises it, and it is printed as it is, after its place.
A value that is likely a secret is never shown: it would end up in the logs of the person who checks the file.
"""

import difflib
import re
from collections.abc import Iterable
from itertools import islice

from pydantic_core import PydanticCustomError

MANY, SOME = 150, 10  # the most words that a misspelt one is compared with; of more words, so many are listed
SHORT = 4  # letters of the shortest word that is compared with beginnings
LESS = 0.85  # a beginning counts so much of a whole word with the same likeness
_SECRET = re.compile(r"passw|passphrase|pwd|secret|token|hmac|jaas|private_?key", re.IGNORECASE)
_FIRST_WORD = re.compile(r"[^\s:=]*")


def sounds_secret(name: str) -> bool:
    """Is a value of this name likely a secret?"""
    return _SECRET.search(name) is not None


def named(name: str) -> str:
    """A name as a message shows it. To YAML `password:x` is a name, but the person only forgot a space."""
    word = _FIRST_WORD.match(name)
    return f"{word[0]}..." if word and word[0] != name and sounds_secret(word[0]) else name


def wrong(fact: str, way_out: str) -> PydanticCustomError:
    """A refusal in our own words: "fact; way out"."""
    return PydanticCustomError("wrong", "{message}", {"message": f"{fact}; {way_out}"})


def shown(value: object) -> str:
    """A value as a message shows it: as YAML writes it, and short."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    text = str(value) if len(str(value)) <= 60 else f"{str(value)[:57]}..."
    return f'"{text}"' if isinstance(value, str) else text


def printable(text: str) -> str:
    """The text on one line, without characters that move a terminal's cursor: a new line is written as in YAML."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def printable_json(text: str) -> str:
    """The same of a JSON text on one line: it stays JSON, and means the same."""
    return text if text.isprintable() else "".join(sign if sign.isprintable() else _in_json(sign) for sign in text)


def nearest(word: str, known: Iterable[str]) -> str:
    """The way out of a misspelt word: the nearest valid one, or all of them; "" if there is none.

    Of very many valid words only some are listed: as many may be misspelt, and each would be compared with each.
    """
    words = list(islice(known, MANY + 1))
    if len(words) > MANY:
        return f"known here: {', '.join(words[:SOME])}, and many more"
    words.sort()
    close = nearest_word(word, words)
    if close:
        return f'did you mean "{close}"?'
    return f"known here: {', '.join(words)}" if words else ""


def nearest_word(word: str, known: Iterable[str]) -> str | None:
    """The valid word that a misspelt one most likely stands for, in any case and with "-" for "_".

    The misspelt one may be only the beginning of it, as "NOT_LEDER".
    """
    said, folded = _folded(word), {_folded(candidate): candidate for candidate in known}
    close = difflib.get_close_matches(said, folded, n=1, cutoff=0.6)
    found = folded[close[0]] if close else None
    if len(said) < SHORT:
        return found
    longer = sorted((it for it in folded if len(it) > len(said)), key=len, reverse=True)
    begun = {it[: len(said)]: folded[it] for it in longer}  # of several that begin so, the shortest
    beginning = difflib.get_close_matches(said, begun, n=1, cutoff=0.7)
    if beginning and (found is None or LESS * _likeness(said, beginning[0]) > _likeness(said, close[0])):
        return begun[beginning[0]]
    return found


def _in_json(sign: str) -> str:
    units = memoryview(sign.encode("utf-16", "surrogatepass")).cast("H")
    return "".join(f"\\u{unit:04x}" for unit in units[1:])  # the first one is the byte order mark


def _folded(word: str) -> str:
    return word.lower().replace("-", "_")


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()
