"""Configuration: one YAML file -> an immutable `Config`; every problem at once, each with its place and a way out."""

from proxy.config.load import ConfigError, examine, examine_text, load
from proxy.config.model import Admin, Cluster, Config, Limits, Listener
from proxy.config.plugins import PluginUse
from proxy.config.values import Address
from proxy.text.problems import Problem

__all__ = [
    "Address",
    "Admin",
    "Cluster",
    "Config",
    "ConfigError",
    "Limits",
    "Listener",
    "PluginUse",
    "Problem",
    "examine",
    "examine_text",
    "load",
]
