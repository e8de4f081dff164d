"""What the passes need to know besides the program."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.core.contracts.guarantees import Guarantee
from penstock.core.program.job import RuntimeSettings

__all__ = ["PlanOptions"]


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The environment's decisions, given to every pass.

    `one_batch`: the host reads the whole input at once. `asked`: the guarantee that the user asks for by the mode of
    checkpoints; None asks for nothing.
    """

    parallelism: int = 1
    max_parallelism: int = 128
    chaining: bool = True
    one_batch: bool = False
    settings: RuntimeSettings = field(default_factory=RuntimeSettings)
    auto_uids: bool = True
    asked: Guarantee | None = None
