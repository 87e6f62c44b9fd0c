"""Plugins: one feature each. They read and change messages and answer with decisions; they never touch a socket."""

from proxy.core.plugin import Plugin


def always() -> list[Plugin]:
    """The plugins without which there is no proxy: they come before those of the configuration."""
    from plugins.address import Address
    from plugins.api_versions import ApiVersions

    return [ApiVersions(), Address()]
