"""The compiled roll call equals the plain one for all bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from proxy.protocol import _rollcall
from proxy.protocol.codec import BAD_BYTES, encode
from proxy.protocol.messages.metadata import MetadataRequest
from proxy.protocol.plan import Many, Nested, Plan, plan
from proxy.protocol.rollcall import FindStrangers, nobody, plain, rollcall
from tests.proxy.protocol.generate import EVERY, make
from tests.proxy.protocol.test_rollcall import one_topic

CHANGES = 12  # of each message


def values(layout: Plan) -> Iterator[tuple[str, bool]]:
    """The fields of a message at any depth by name, and whether each is one value."""
    for step in layout.steps:
        inner = step.move.element if isinstance(step.move, Many) else step.move
        yield step.field.name, inner is step.move and not isinstance(inner, Nested)
        if isinstance(inner, Nested):
            yield from values(inner.plan)


def names_of(layout: Plan, dice: random.Random) -> list[str]:
    """Some fields that are one value wherever they are."""
    fields = sorted(values(layout))
    single = sorted({name for name, _ in fields} - {name for name, is_one in fields if not is_one})
    return dice.sample(single, min(len(single), dice.randint(1, 3)))


def changed(body: bytes, dice: random.Random) -> bytes:
    """The same cut, or with some other bytes."""
    if dice.random() < 0.3:
        return body[: dice.randrange(len(body) + 1)]
    made = bytearray(body)
    for _ in range(dice.randint(1, 3) if made else 0):
        made[dice.randrange(len(made))] = dice.choice((0, 1, 2, 3, 127, 128, 255, dice.randrange(256)))
    return bytes(made)


def outcome(call: FindStrangers, body: bytes, known: object) -> list[bytes] | None:
    try:
        return call(body, 0, b"", known)
    except BAD_BYTES:
        return None


def test_both_say_the_same_of_every_message() -> None:
    dice = random.Random(7)
    bad = told = 0
    for cls, version in EVERY:
        names = names_of(plan(cls, version), dice)
        if not names:
            continue
        whole = dice.random() < 0.3
        swift, slow = rollcall(cls, version, *names, whole=whole), plain(cls, version, *names, whole=whole)
        body = encode(make(cls, version, dice), version)
        known, same = nobody(), set()
        for value in (slow(body, 0, b"", same) or [])[::2]:
            known.add(value)
            same.add(value)
        for each in (body, *(changed(body, dice) for _ in range(CHANGES))):
            expected = outcome(slow, each, same)
            assert outcome(swift, each, known) == expected, f"{cls.title()} v{version} {names} {each.hex()}"
            bad += expected is None
            told += bool(expected)
    assert min(bad, told) > 1_000


def test_only_bytes_can_be_known() -> None:
    with pytest.raises(TypeError, match="only bytes can be known"):
        _rollcall.Known().add("name")  # type: ignore[arg-type]


def test_it_says_how_it_is_called() -> None:
    call = _rollcall.RollCall(())
    for arguments in ((b"",), (b"", 0, b"", set()), (b"", 0, "", _rollcall.Known())):
        with pytest.raises(TypeError, match=r"strangers\(bytes, where to begin, how it begins, Known\)"):
            call.strangers(*arguments)  # type: ignore[call-overload]
    for program in ([], (1, "two"), (1 << 70,)):
        with pytest.raises((TypeError, OverflowError)):
            _rollcall.RollCall(program)  # type: ignore[arg-type]
    for start in (-1, 1, 1 << 40):
        assert call.strangers(b"", start, b"", _rollcall.Known()) is None
    assert call.strangers(b"", 0, b"", _rollcall.Known()) == []


@pytest.mark.parametrize("known", [[b"t"], []])
def test_it_looks_at_so_many_names_at_once(known: list[bytes]) -> None:
    call, some = rollcall(MetadataRequest, 1, "name"), nobody()
    for name in known:
        some.add(name)
    assert call(one_topic(_rollcall.MOST), 0, b"", some) == [b"t"] * _rollcall.MOST * (not known)
    with pytest.raises(BAD_BYTES):
        call(one_topic(_rollcall.MOST + 1), 0, b"", some)
