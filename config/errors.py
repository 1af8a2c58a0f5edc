"""Errors of the `config` package.

ConfigError
└── InvalidSettings
"""


class ConfigError(Exception):
    """Root of the package's error tree."""


class InvalidSettings(ConfigError, ValueError):  # noqa: N818 - the name says what is wrong
    """A setting is wrong; the message names it and what is allowed."""
