"""Public names on PyFlink's path `pyflink.metrics`."""

from penstock.core.metrics import Counter, Distribution, Gauge, Meter, Metric, MetricGroup

__all__ = ["Counter", "Distribution", "Gauge", "Meter", "Metric", "MetricGroup"]
