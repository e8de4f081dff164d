"""Public names on PyFlink's path `pyflink.common.input_dependency_constraint`."""

from penstock.core.constants import InputDependencyConstraint

__all__ = ["InputDependencyConstraint"]
