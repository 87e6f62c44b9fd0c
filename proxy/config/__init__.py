"""Configuration: one YAML file -> an immutable `Config`. All problems are reported at once, each with its place."""

from proxy.config.limit_options import LimitOptions
from proxy.config.load import examine, examine_text, load
from proxy.config.model import Admin, ClusterOptions, Config, ListenerOptions
from proxy.config.plugins import PluginUse
from proxy.config.values import HostPort
from proxy.text.problems import Problem

__all__ = [
    "Admin",
    "ClusterOptions",
    "Config",
    "HostPort",
    "LimitOptions",
    "ListenerOptions",
    "PluginUse",
    "Problem",
    "examine",
    "examine_text",
    "load",
]
