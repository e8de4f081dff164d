"""Public names on PyFlink's path `pyflink.common.watermark_strategy`."""

from penstock.core.time.watermarks import (
    TimestampAssigner,
    Watermark,
    WatermarkGenerator,
    WatermarkGeneratorSupplier,
    WatermarkOutput,
    WatermarkStrategy,
)

__all__ = [
    "TimestampAssigner",
    "Watermark",
    "WatermarkGenerator",
    "WatermarkGeneratorSupplier",
    "WatermarkOutput",
    "WatermarkStrategy",
]
