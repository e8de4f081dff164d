"""The environment's settings: all of them are keys of its configuration."""

from __future__ import annotations

from typing import Any, Self

from penstock.core.config import ConfigOption, Configuration
from penstock.core.config.compat import accept, warn_once
from penstock.core.config.execution_config import ExecutionConfig
from penstock.core.config.known_settings import with_newest_names
from penstock.core.config.options.accepted import (
    BUFFER_TIMEOUT,
    CHAIN_DIFFERENT_MAXIMA,
    CHANGELOG,
    CLASSPATHS,
    JARS,
)
from penstock.core.config.options.checkpoints import CHECKPOINT_INTERVAL, SAVEPOINT_DIR
from penstock.core.config.options.job import CHAINING, MAX_PARALLELISM, PARALLELISM, RUNTIME_MODE
from penstock.core.config.options.workers import PYTHON_ARCHIVES, PYTHON_EXECUTABLE, PYTHON_FILES, PYTHON_REQUIREMENTS
from penstock.core.errors import ProgramError
from penstock.core.program.dependencies import joined
from penstock.core.program.execution_mode import RuntimeExecutionMode
from penstock.core.program.slots import SlotSharingGroup
from penstock.core.state.backends import StateBackend
from penstock.core.state.checkpointing import CheckpointConfig, CheckpointingMode
from penstock.core.time.spans import Span, whole_ms
from penstock.jobs.restart_strategies import RestartStrategyConfiguration

__all__ = ["Settings"]


class Settings:
    """Settings of a whole job, as methods of the environment."""

    _configuration: Configuration
    _default_parallelism: int | None = None

    @property
    def _said(self) -> Configuration:
        """The configuration as it is now, with older names of settings translated to the newest ones."""
        return with_newest_names(self._configuration)

    def get_config(self) -> ExecutionConfig:
        """A view of this environment's settings."""
        return ExecutionConfig(self._configuration)

    def get_configuration(self) -> Configuration:
        return self._configuration

    def configure(self, configuration: Configuration) -> Self:
        """Take over settings."""
        self._configuration.add_all(configuration)
        return self

    # -- parallelism ------------------------------------------------------------------------------

    def set_parallelism(self, parallelism: int) -> Self:
        """Default for operators that say nothing."""
        return self._set_positive(PARALLELISM, parallelism)

    def get_parallelism(self) -> int:
        return self._said.get(PARALLELISM) or self.get_default_local_parallelism()

    def get_default_local_parallelism(self) -> int:
        """The default parallelism: the number of cores that this process may use."""
        from penstock.launch import default_parallelism

        return self._default_parallelism or default_parallelism()

    def set_default_local_parallelism(self, parallelism: int) -> None:
        if not isinstance(parallelism, int) or parallelism < 1:
            raise ProgramError(
                f"The default local parallelism must be a whole number of at least 1, got {parallelism!r}"
            )
        self._default_parallelism = parallelism

    def set_max_parallelism(self, max_parallelism: int) -> Self:
        """Number of key groups; fixed for the life of a job's state."""
        return self._set_positive(MAX_PARALLELISM, max_parallelism)

    def get_max_parallelism(self) -> int:
        return self._said.get(MAX_PARALLELISM)

    def _set_positive(self, option: ConfigOption[Any], value: int) -> Self:
        if not isinstance(value, int) or value < 1:
            raise ProgramError(f"{option.key} must be a whole number of at least 1, got {value!r}")
        self._configuration.set_integer(option.key, value)
        return self

    # -- semantics --------------------------------------------------------------------------------

    def set_runtime_mode(self, execution_mode: RuntimeExecutionMode) -> Self:
        """Streaming or batch semantics."""
        if not isinstance(execution_mode, RuntimeExecutionMode):
            raise TypeError(f"set_runtime_mode() takes a RuntimeExecutionMode, got {type(execution_mode).__name__}")
        self._configuration.set_string(RUNTIME_MODE.key, execution_mode.name)
        return self

    def disable_operator_chaining(self) -> Self:
        self._configuration.set_boolean(CHAINING.key, False)
        return self

    def is_chaining_enabled(self) -> bool:
        return self._said.get(CHAINING)

    def is_chaining_of_operators_with_different_max_parallelism_enabled(self) -> bool:
        return self._said.get(CHAIN_DIFFERENT_MAXIMA)

    def set_buffer_timeout(self, timeout_millis: int | Span) -> Self:
        accept(self._configuration, BUFFER_TIMEOUT, str(whole_ms(timeout_millis)))
        return self

    def get_buffer_timeout(self) -> int:
        return self._said.get(BUFFER_TIMEOUT)

    def register_slot_sharing_group(self, slot_sharing_group: SlotSharingGroup) -> Self:
        if not isinstance(slot_sharing_group, SlotSharingGroup):
            raise TypeError(
                f"register_slot_sharing_group() takes a SlotSharingGroup, got {type(slot_sharing_group).__name__}"
            )
        warn_once("StreamExecutionEnvironment.register_slot_sharing_group")
        return self

    # -- faults -----------------------------------------------------------------------------------

    def get_checkpoint_config(self) -> CheckpointConfig:
        """A view of this environment's settings."""
        return CheckpointConfig(self._configuration)

    def enable_checkpointing(self, interval: int | Span, mode: CheckpointingMode | None = None) -> Self:
        """Ask for durability at least every `interval` ms. Every micro-batch is a checkpoint, so it is met."""
        self._set_positive(CHECKPOINT_INTERVAL, whole_ms(interval))
        if mode is not None:
            self.get_checkpoint_config().set_checkpointing_mode(mode)
        return self

    def get_checkpoint_interval(self) -> int:
        return self.get_checkpoint_config().get_checkpoint_interval()

    def get_checkpointing_mode(self) -> CheckpointingMode:
        return self.get_checkpoint_config().get_checkpointing_mode()

    def get_checkpointing_consistency_mode(self) -> CheckpointingMode:
        return self.get_checkpointing_mode()

    def is_unaligned_checkpoints_enabled(self) -> bool:
        return self.get_checkpoint_config().is_unaligned_checkpoints_enabled()

    def is_force_unaligned_checkpoints(self) -> bool:
        return self.get_checkpoint_config().is_force_unaligned_checkpoints()

    def enable_changelog_state_backend(self, enabled: bool) -> Self:
        accept(self._configuration, CHANGELOG, str(bool(enabled)).lower())
        return self

    def is_changelog_state_backend_enabled(self) -> bool | None:
        """None if the program has not set it."""
        return self._said.get(CHANGELOG)

    def set_default_savepoint_directory(self, directory: str) -> Self:
        """Where `JobClient.trigger_savepoint` makes its folders if it is given none."""
        self._configuration.set_string(SAVEPOINT_DIR.key, directory)
        return self

    def get_default_savepoint_directory(self) -> str | None:
        return self._said.get(SAVEPOINT_DIR) or None

    def set_restart_strategy(self, restart_strategy_configuration: RestartStrategyConfiguration) -> Self:
        """Choose what happens after a failure. PyFlink 1 has it; in PyFlink 2 the configuration says it."""
        if not isinstance(restart_strategy_configuration, RestartStrategyConfiguration):
            raise TypeError(
                "set_restart_strategy() takes what RestartStrategies makes, got "
                f"{type(restart_strategy_configuration).__name__}"
            )
        self._configuration.add_all(Configuration(restart_strategy_configuration.settings))
        return self

    def set_state_backend(self, state_backend: StateBackend) -> Self:
        """Where state is kept. PyFlink 1 has it; in PyFlink 2 the configuration says it."""
        if not isinstance(state_backend, StateBackend):
            raise TypeError(f"set_state_backend() takes a StateBackend, got {type(state_backend).__name__}")
        state_backend.apply(self._configuration)
        return self

    # -- what workers need ------------------------------------------------------------------------

    def add_python_file(self, file_path: str) -> None:
        """A module, package, zip or folder that functions import; it is brought to every worker."""
        joined(self._configuration, PYTHON_FILES, file_path)

    def set_python_requirements(self, requirements_file_path: str, requirements_cache_dir: str | None = None) -> None:
        """Packages that functions import, as pip lists them; with a folder, installed from it alone."""
        text = (
            requirements_file_path
            if requirements_cache_dir is None
            else f"{requirements_file_path}#{requirements_cache_dir}"
        )
        self._configuration.set_string(PYTHON_REQUIREMENTS.key, text)

    def add_python_archive(self, archive_path: str, target_dir: str | None = None) -> None:
        """An archive that is unpacked in every worker's working folder, under `target_dir` or its own name."""
        item = archive_path if target_dir is None else f"{archive_path}#{target_dir}"
        joined(self._configuration, PYTHON_ARCHIVES, item)

    def set_python_executable(self, python_exec: str) -> None:
        """The interpreter of the workers."""
        self._configuration.set_string(PYTHON_EXECUTABLE.key, python_exec)

    def add_jars(self, *jars_path: str) -> None:
        self._add_list(JARS, jars_path)

    def add_classpaths(self, *classpaths: str) -> None:
        self._add_list(CLASSPATHS, classpaths)

    def _add_list(self, option: ConfigOption[str], items: tuple[str, ...]) -> None:
        before = Configuration.parse_list_value(self._said.get(option))
        accept(self._configuration, option, str([*before, *items]))
