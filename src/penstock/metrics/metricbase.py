"""Public names on PyFlink's path `pyflink.metrics.metricbase`."""

from penstock.core.metrics import Counter, Distribution, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Meter", "Metric", "MetricGroup"]
