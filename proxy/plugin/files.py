"""Files that people write, for plugins that have one of their own."""

# ruff: noqa: I001 (each name is imported as itself: so it is exported)

from proxy.text.atomic import (
    create_atomically as create_atomically,
    sync_folder as sync_folder,
)
from proxy.text.bounded import (
    bounded_lines as bounded_lines,
)
from proxy.text.file import (
    Examined as Examined,
    Form as Form,
    Items as Items,
    Section as Section,
)
from proxy.text.locked import (
    lock_if_free as lock_if_free,
    lock_soon as lock_soon,
)
from proxy.text.plain import (
    examine as examine,
)
from proxy.text.quantities import (
    Seconds as Seconds,
    Size as Size,
    at_least as at_least,
    at_most as at_most,
)
from proxy.text.regular import (
    open_regular as open_regular,
    why_unread as why_unread,
)
from proxy.text.watched import (
    WatchedFile as WatchedFile,
)
from proxy.text.words import (
    nearest as nearest,
    nearest_word as nearest_word,
    shown as shown,
)
