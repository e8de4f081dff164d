"""Names of side outputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic

from penstock.core.types.subscript import Subscriptable
from penstock.core.types.type_info import TypeInformation
from penstock.core.types.type_variables import T

__all__ = ["OutputTag"]


@dataclass(frozen=True, slots=True)
class OutputTag(Subscriptable, Generic[T]):
    """Names a side output; yield `(tag, value)` from a process function to send there.

    >>> OutputTag("late").tag_id
    'late'
    """

    tag_id: str
    type_info: TypeInformation[T] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.tag_id, str) or not self.tag_id:
            raise ValueError("OutputTag tag_id must be a non-empty string")
