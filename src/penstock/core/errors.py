"""The one exception tree.

A message says which operator, what was found, and what to do about it.
"""

from __future__ import annotations

__all__ = [
    "CheckpointError",
    "ConfigurationError",
    "DamagedCheckpointError",
    "ForeignCheckpointError",
    "JavaError",
    "JobControlError",
    "JobFailedError",
    "JobNotFoundError",
    "KeyTypeError",
    "OperatorError",
    "PenstockError",
    "ProgramError",
    "RecordError",
    "SavepointError",
    "SinkError",
    "SourceError",
    "SparkDiedError",
    "StateError",
    "TimestampError",
    "UserFunctionError",
]


class PenstockError(Exception):
    """Base of everything Penstock raises on purpose."""


class ProgramError(PenstockError):
    """A mistake in the program, refused before anything runs."""


class ConfigurationError(PenstockError):
    """A setting that is unknown, malformed or not allowed."""


class JavaError(ConfigurationError):
    """No Java that Spark can run on was found."""


class CheckpointError(PenstockError):
    """A checkpoint that cannot be continued from."""


class ForeignCheckpointError(CheckpointError):
    """The checkpoint was written by another job or another shape of this one."""


class DamagedCheckpointError(CheckpointError):
    """A file of the checkpoint is missing, truncated or altered."""


class SavepointError(CheckpointError):
    """A savepoint that cannot be taken, read or started from."""


class StateError(CheckpointError):
    """State or a record that the classes or the state descriptors of this program cannot read."""


class SourceError(PenstockError):
    """A source cannot be read, or not from where the job stands."""


class SinkError(PenstockError):
    """A sink cannot be written or committed."""


class JobFailedError(PenstockError):
    """The job ended with an error that is not the program's own."""


class SparkDiedError(JobFailedError):
    """The Java process of Spark has died. The job is not restarted in this process: its session has died too."""


class JobNotFoundError(PenstockError):
    """No running job, or more than one, fits what was asked for."""


class JobControlError(PenstockError):
    """A running job refuses what another process asks of it, or does not answer."""


class OperatorError(PenstockError):
    """Something went wrong inside one operator; `operator` and `uid` say which."""

    def __init__(self, message: str, operator: str = "", uid: str = "") -> None:
        super().__init__(message)
        self.operator = operator
        self.uid = uid

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.args[0], self.operator, self.uid))


class KeyTypeError(OperatorError):
    """A key of a type that has no stable route."""


class KeylessStateError(OperatorError):
    """Keyed state was read or changed where there is no current key."""


class TimestampError(OperatorError):
    """A timestamp that is not an int, or out of range."""


class RecordError(OperatorError):
    """A record that cannot travel: unpicklable, or of the wrong type for its sink."""


class UserFunctionError(OperatorError):
    """A user function raised. Carries the record and the function's own traceback as text."""

    def __init__(
        self, message: str, operator: str = "", uid: str = "", record: str = "", user_traceback: str = ""
    ) -> None:
        super().__init__(message, operator, uid)
        self.record = record
        self.user_traceback = user_traceback

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.args[0], self.operator, self.uid, self.record, self.user_traceback))
