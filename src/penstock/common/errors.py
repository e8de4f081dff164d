"""What Penstock raises on purpose; the root is `PenstockError`."""

from penstock.core.errors import (
    CheckpointError,
    ConfigurationError,
    DamagedCheckpointError,
    ForeignCheckpointError,
    JavaError,
    JobFailedError,
    JobNotFoundError,
    KeyTypeError,
    OperatorError,
    PenstockError,
    ProgramError,
    RecordError,
    SinkError,
    SourceError,
    TimestampError,
    UserFunctionError,
)

__all__ = [
    "CheckpointError",
    "ConfigurationError",
    "DamagedCheckpointError",
    "ForeignCheckpointError",
    "JavaError",
    "JobFailedError",
    "JobNotFoundError",
    "KeyTypeError",
    "OperatorError",
    "PenstockError",
    "ProgramError",
    "RecordError",
    "SinkError",
    "SourceError",
    "TimestampError",
    "UserFunctionError",
]
