"""Policies for a record on which a user function raises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from penstock.core.program.output_tag import OutputTag

__all__ = ["FAIL", "POISON_TAG", "FailedTimer", "FailedWindow", "PoisonPolicy", "poison_policy"]

POISON_TAG = OutputTag("poison")
"""Where `side-output` sends records when no other tag was given."""


class FailedTimer(NamedTuple):
    """Stands for the record where `on_timer` raised: the timer is gone.

    >>> FailedTimer("user 7", 1000)
    FailedTimer(key='user 7', timestamp=1000)
    """

    key: Any
    timestamp: int


class FailedWindow(NamedTuple):
    """Stands for the record where a window's function raised on its contents: this firing has no result.

    >>> FailedWindow("user 7", "all").key
    'user 7'
    """

    key: Any
    window: Any


@dataclass(frozen=True, slots=True)
class PoisonPolicy:
    """`guarded`: the job goes on without the record. `tag`: the side output it is sent to with its error, if any."""

    guarded: bool
    tag: str | None = None


FAIL = PoisonPolicy(False)


def poison_policy(given: object) -> PoisonPolicy:
    """The policy named by `fail`, `skip`, `side-output` or given by an `OutputTag`.

    >>> poison_policy("skip")
    PoisonPolicy(guarded=True, tag=None)
    """
    if isinstance(given, OutputTag):
        return PoisonPolicy(True, given.tag_id)
    known = {"fail": FAIL, "skip": PoisonPolicy(True), "side-output": PoisonPolicy(True, POISON_TAG.tag_id)}
    if not isinstance(given, str) or given not in known:
        raise ValueError(f"must be one of {', '.join(known)}, or for one operator an OutputTag; got {given!r}")
    return known[given]
