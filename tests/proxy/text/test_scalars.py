"""Unquoted texts as values."""

from proxy.text.scalars import plain


def test_plain_values_follow_yaml_1_2() -> None:
    words = ["true", "~", "", "12", "-3", "1.5", "1e3", "yes", "on", "0x10", "1:30", "1_000", "9" * 30]
    assert [plain(word) for word in words[:7]] == [True, None, None, 12, -3, 1.5, 1000.0]
    assert [plain(word) for word in words[7:12]] == words[7:12]
    assert isinstance(plain(words[12]), float)
