"""Public names on PyFlink's path `pyflink.common.watermark_strategy`."""

from penstock.core.watermark import TimestampAssigner, WatermarkStrategy

__all__ = ["TimestampAssigner", "WatermarkStrategy"]
