"""The settings that an environment starts from: the configuration file, then the command line."""

from __future__ import annotations

import json
import os
from typing import Any

from penstock.core.config import Configuration
from penstock.core.errors import ConfigurationError

__all__ = ["CONF_VARIABLE", "base_configuration", "default_parallelism"]

CONF_VARIABLE = "PENSTOCK_CONF"
"""Settings of the command line, as JSON; stronger than the configuration file, weaker than the program."""


def base_configuration() -> Configuration:
    """What an environment starts from: the configuration file, then the command line."""
    conf = Configuration()
    path = os.environ.get("PENSTOCK_CONF_FILE")
    if path:
        conf.add_all(Configuration(_read_file(path)))
    conf.add_all(Configuration(json.loads(os.environ.get(CONF_VARIABLE, "{}"))))
    return conf


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


def default_parallelism() -> int:
    """As many subtasks as this process may use cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
