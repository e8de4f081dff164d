"""Generated streams; PyFlink has no Python name for them, these are the Java API's."""

from penstock.connectors.sequences import DataGeneratorSource, RateLimiterStrategy

__all__ = ["DataGeneratorSource", "RateLimiterStrategy"]
