"""Settings that are accepted for compatibility and have no effect here (P12)."""

from __future__ import annotations

import warnings

__all__ = ["warn_once"]

_WARNED: dict[str, str] = {}


def warn_once(setting: str, reason: str) -> None:
    """Say once per process that `setting` is accepted but has no effect, and why."""
    if setting not in _WARNED:
        _WARNED[setting] = reason
        warnings.warn(f"{setting} is accepted but has no effect: {reason}", stacklevel=3)
