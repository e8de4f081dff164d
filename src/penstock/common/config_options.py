"""Public names on PyFlink's path `pyflink.common.config_options`."""

from penstock.core.config.option import ConfigOption, ConfigOptions

__all__ = ["ConfigOption", "ConfigOptions"]
