"""Settings: the bag that holds them, and every one that Penstock knows.

`Configuration` stands here because checkpoints and programs of earlier versions refer to `penstock.core.config`.
"""

from penstock.core.config.configuration import Configuration
from penstock.core.config.option import ConfigOption, ConfigOptions

__all__ = ["ConfigOption", "ConfigOptions", "Configuration"]
