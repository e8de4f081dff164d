"""Settings that are accepted for compatibility but have no effect here: each warns once (P12)."""

from __future__ import annotations

import warnings

__all__ = ["warn_once"]

_warned: set[str] = set()


def warn_once(setting: str, reason: str) -> None:
    """Say, the first time in this process, that `setting` has no effect, and why.

    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warn_once("doctest.setting", "nothing listens to it")
    ...     warn_once("doctest.setting", "nothing listens to it")
    >>> [str(w.message) for w in caught]
    ['doctest.setting has no effect: nothing listens to it']
    """
    if setting not in _warned:
        _warned.add(setting)
        warnings.warn(f"{setting} has no effect: {reason}", UserWarning, stacklevel=3)
