"""Settings of checkpoints and savepoints: where they are, and what a job starts from."""

from __future__ import annotations

from penstock.core.config.option import LOCAL, STREAMING
from penstock.core.config.values import duration_ms, flag, folder, setting

__all__ = [
    "ACCEPT_CHANGED",
    "ALLOW_UNCLAIMED",
    "CHECKPOINT_DIR",
    "CHECKPOINT_INTERVAL",
    "CHECKPOINT_OPTIONS",
    "SAVEPOINT_DIR",
    "SAVEPOINT_PATH",
]

_KEEPS_STATE = LOCAL + STREAMING
"""The bounded host starts from nothing and keeps nothing."""

CHECKPOINT_DIR = setting(
    "execution.checkpointing.dir",
    folder(),
    "",
    "The folder of the job's checkpoint: a job that is started again goes on there.",
    STREAMING,
    default_text="a scratch folder that goes with the job",
)
CHECKPOINT_INTERVAL = setting(
    "execution.checkpointing.interval",
    duration_ms(),
    None,
    "Asks for a checkpoint at least that often. Every micro-batch is one, so any interval is met.",
    STREAMING,
    default_text="none asked for",
)
SAVEPOINT_DIR = setting(
    "execution.checkpointing.savepoint-dir",
    folder(),
    "",
    "Where savepoints go for which no folder is given.",
    STREAMING,
)
SAVEPOINT_PATH = setting(
    "execution.state-recovery.path", folder(), "", "The savepoint that the job starts from.", _KEEPS_STATE
)
ALLOW_UNCLAIMED = setting(
    "execution.state-recovery.ignore-unclaimed-state",
    flag(),
    False,
    "State of a savepoint that no operator claims is dropped; otherwise it is refused.",
    _KEEPS_STATE,
)
ACCEPT_CHANGED = setting(
    "penstock.state.accept-changed-program",
    flag(),
    False,
    "State under generated uids is kept though the program has changed.",
    _KEEPS_STATE,
)

CHECKPOINT_OPTIONS = (
    CHECKPOINT_DIR,
    CHECKPOINT_INTERVAL,
    SAVEPOINT_DIR,
    SAVEPOINT_PATH,
    ALLOW_UNCLAIMED,
    ACCEPT_CHANGED,
)
