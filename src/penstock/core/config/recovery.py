"""What a job starts from, and where its savepoints go, as its settings say."""

from __future__ import annotations

from typing import NamedTuple

from penstock.core.config import Configuration
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.options.checkpoints import ALLOW_UNCLAIMED, SAVEPOINT_DIR, SAVEPOINT_PATH

__all__ = ["Recovery"]


class Recovery(NamedTuple):
    """The savepoint to start from (none if empty), and whether state is dropped for which the job has no operator.

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
        return Recovery(said.get(SAVEPOINT_PATH), said.get(ALLOW_UNCLAIMED), said.get(SAVEPOINT_DIR))
