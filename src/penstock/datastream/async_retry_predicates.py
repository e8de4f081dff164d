"""Public names on PyFlink's path `pyflink.datastream.async_retry_predicates`."""

from penstock.core.functions.asynchronous import (
    empty_result_predicate,
    exception_type_predicate,
    has_exception_predicate,
)

__all__ = ["empty_result_predicate", "exception_type_predicate", "has_exception_predicate"]
