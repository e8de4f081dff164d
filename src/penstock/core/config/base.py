"""What an environment starts from: the configuration file, then the command line."""

from __future__ import annotations

import json
from typing import Any

from penstock.core.config.configuration import Configuration
from penstock.core.config.variables import CONF, CONF_FILE
from penstock.core.errors import ConfigurationError

__all__ = ["base_configuration", "command_line_settings", "file_settings"]


def base_configuration() -> Configuration:
    """The settings that a program finds: those of the file, and over them those of the command line."""
    return file_settings().add_all(command_line_settings())


def file_settings() -> Configuration:
    """The settings of the configuration file; none if the environment names no file."""
    path = CONF_FILE.get()
    return Configuration(_read_file(path) if path else None)


def command_line_settings() -> Configuration:
    """The settings that `penstock run` was given, which hands them to the program through the environment."""
    return Configuration(json.loads(CONF.get() or "{}"))


def _read_file(path: str) -> dict[str, Any]:
    """A flat JSON file, or `key: value` lines."""
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise ConfigurationError(f"The configuration file {path} cannot be read: {error}") from error
    if text.lstrip().startswith("{"):
        try:
            return dict(json.loads(text))
        except ValueError as error:
            raise ConfigurationError(f"The configuration file {path} is not JSON: {error}") from None
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    bad = next((line for line in lines if ":" not in line), None)
    if bad is not None:
        raise ConfigurationError(f"The configuration file {path} has a line that is not 'key: value': {bad.strip()!r}")
    return {key.strip(): value.strip() for key, value in (line.split(":", 1) for line in lines)}
