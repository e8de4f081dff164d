"""Public names on PyFlink's path `pyflink.common.configuration`."""

from penstock.core.config import Configuration

__all__ = ["Configuration"]
