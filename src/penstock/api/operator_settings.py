"""Settings of the operator that a call has just added: its name, uid, parallelism and the like."""

from __future__ import annotations

from typing import Any, Self

from penstock.api.transformation import Transformation
from penstock.core.config.compat import warn_once
from penstock.core.errors import ProgramError
from penstock.core.program.output_tag import OutputTag
from penstock.core.program.poison import poison_policy
from penstock.core.program.slots import SlotSharingGroup
from penstock.graph.stream_graph import ChainStrategy

__all__ = ["OperatorSettings"]


class OperatorSettings:
    """Settings shared by streams and sinks; they apply to the operator just added."""

    @property
    def _transformation(self) -> Transformation:
        """The operator that the settings are for."""
        raise NotImplementedError

    def get_name(self) -> str:
        return self._transformation.name

    def name(self, name: str) -> Self:
        """Shown in plans, metrics and errors."""
        self._transformation.name = name
        return self

    def uid(self, uid: str) -> Self:
        """The name under which the operator's state is found again after the program has changed."""
        if not isinstance(uid, str) or not uid:
            raise ProgramError(f"Operator '{self._transformation.name}': a uid is a non-empty string, got {uid!r}")
        self._transformation.uid = uid
        return self

    def set_parallelism(self, parallelism: int) -> Self:
        """How many subtasks run the operator."""
        if not isinstance(parallelism, int) or parallelism < 1:
            raise ProgramError(
                f"Operator '{self._transformation.name}': parallelism must be at least 1, got {parallelism!r}"
            )
        self._transformation.parallelism = parallelism
        return self

    def set_description(self, description: str) -> Self:
        """A longer text for plans."""
        self._transformation.description = description
        return self

    def on_poison(self, policy: str | OutputTag[Any]) -> Self:
        """Say what happens to a record on which the operator's function raises.

        `fail` the job, `skip` and count it (metric `poisonRecords`), or with a tag send `(record, error text)` to
        that side output. What the failing call has yielded is dropped, what it did to state stays. Key selectors
        and partitioners behind the operator are covered too. Default: the setting `penstock.poison`.
        """
        try:
            self._transformation.poison = poison_policy(policy)
        except ValueError as error:
            raise ProgramError(f"Operator '{self._transformation.name}': on_poison() {error}") from None
        return self

    def disable_chaining(self) -> Self:
        """Run the operator in a task of its own."""
        self._transformation.chain = ChainStrategy.NEVER
        return self

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Bounds the operator's parallelism; the number of key groups is the job's."""
        if not isinstance(max_parallelism, int) or max_parallelism < 1:
            raise ProgramError(
                f"Operator '{self._transformation.name}': the maximum parallelism must be at least 1, "
                f"got {max_parallelism!r}"
            )
        self._transformation.max_parallelism = max_parallelism
        warn_once("DataStream.set_max_parallelism")
        return self

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Accepted, without effect."""
        warn_once("DataStream.set_uid_hash")
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Accepted, without effect."""
        if not isinstance(slot_sharing_group, str | SlotSharingGroup):
            raise TypeError(
                f"slot_sharing_group() takes a name or a SlotSharingGroup, got {type(slot_sharing_group).__name__}"
            )
        warn_once("DataStream.slot_sharing_group")
        return self
