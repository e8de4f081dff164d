"""Public names on PyFlink's path `pyflink.common.restart_strategy`."""

from penstock.jobs.restart_strategies import RestartStrategies, RestartStrategyConfiguration

__all__ = ["RestartStrategies", "RestartStrategyConfiguration"]
