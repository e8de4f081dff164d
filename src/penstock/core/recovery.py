"""Settings that say what a job starts from, and where its savepoints go."""

from __future__ import annotations

from typing import NamedTuple

from penstock.core.config import Configuration
from penstock.core.config.known_settings import with_newest_names

__all__ = ["ACCEPT_CHANGED", "ALLOW_UNCLAIMED", "SAVEPOINT_DIR", "SAVEPOINT_PATH", "Recovery"]

ACCEPT_CHANGED = "penstock.state.accept-changed-program"
SAVEPOINT_PATH = "execution.state-recovery.path"
ALLOW_UNCLAIMED = "execution.state-recovery.ignore-unclaimed-state"
SAVEPOINT_DIR = "execution.checkpointing.savepoint-dir"


class Recovery(NamedTuple):
    """The savepoint to start from (none if empty), and whether state that nobody claims is dropped.

    >>> Recovery.of(Configuration({"execution.savepoint.path": "/data/one"}))
    Recovery(savepoint='/data/one', allow_unclaimed=False, directory='')
    """

    savepoint: str
    allow_unclaimed: bool
    directory: str = ""

    @staticmethod
    def of(conf: Configuration) -> Recovery:
        """As the settings say, under Flink's newest or older names."""
        said = with_newest_names(conf)
        return Recovery(
            said.get_string(SAVEPOINT_PATH, ""),
            said.get_boolean(ALLOW_UNCLAIMED, False),
            said.get_string(SAVEPOINT_DIR, ""),
        )
