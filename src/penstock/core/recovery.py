"""Settings that say what a job starts from, and where its savepoints go."""

from __future__ import annotations

from typing import NamedTuple

from penstock.core.config import Configuration

__all__ = ["ALLOW_UNCLAIMED", "SAVEPOINT_DIR", "SAVEPOINT_PATH", "Recovery"]

SAVEPOINT_PATH = "execution.state-recovery.path"
ALLOW_UNCLAIMED = "execution.state-recovery.ignore-unclaimed-state"
SAVEPOINT_DIR = "execution.checkpointing.savepoint-dir"

_OLDER = {
    SAVEPOINT_PATH: "execution.savepoint.path",
    ALLOW_UNCLAIMED: "execution.savepoint.ignore-unclaimed-state",
    SAVEPOINT_DIR: "state.savepoints.dir",
}


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
        """As the settings say, under Flink's newer or older names."""
        return Recovery(
            conf.get_string(SAVEPOINT_PATH, conf.get_string(_OLDER[SAVEPOINT_PATH], "")),
            conf.get_boolean(ALLOW_UNCLAIMED, conf.get_boolean(_OLDER[ALLOW_UNCLAIMED], False)),
            conf.get_string(SAVEPOINT_DIR, conf.get_string(_OLDER[SAVEPOINT_DIR], "")),
        )
