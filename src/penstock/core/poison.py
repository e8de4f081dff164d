"""What becomes of a record on which a user function raises (F9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from penstock.core.output_tag import OutputTag

__all__ = ["FAIL", "POISON_TAG", "PoisonPolicy", "poison_policy"]

POISON_TAG = OutputTag("poison")
"""Where `side-output` sends records when no other tag was given."""


@dataclass(frozen=True, slots=True)
class PoisonPolicy:
    """`guarded`: the job goes on without the record. `tag`: the side output it is sent to with its error, if any."""

    guarded: bool
    tag: str | None = None


FAIL = PoisonPolicy(False)


def poison_policy(given: Any) -> PoisonPolicy:
    """The policy that `fail`, `skip`, `side-output` or an `OutputTag` stands for.

    >>> poison_policy("skip")
    PoisonPolicy(guarded=True, tag=None)
    """
    if isinstance(given, OutputTag):
        return PoisonPolicy(True, given.tag_id)
    known = {"fail": FAIL, "skip": PoisonPolicy(True), "side-output": PoisonPolicy(True, POISON_TAG.tag_id)}
    if not isinstance(given, str) or given not in known:
        raise ValueError(f"must be one of {', '.join(known)}, or for one operator an OutputTag; got {given!r}")
    return known[given]
