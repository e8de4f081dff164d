"""`penstock demo`: a live stream to look at."""

from __future__ import annotations

import sys

import click

__all__ = ["demo"]


@click.command()
@click.option("--seconds", type=click.FloatRange(0), default=50.0, show_default=True, help="How long to run.")
@click.option("--forever", is_flag=True, help="Run until Ctrl-C.")
@click.option("--fresh", is_flag=True, help="Start over instead of going on where it stopped.")
@click.option("--rate", type=click.IntRange(1), default=2_000, show_default=True, help="Clicks a second.")
@click.option("--checkpoint", metavar="DIR", help="Where progress is kept; default: .penstock/demo.")
def demo(seconds: float, forever: bool, fresh: bool, rate: int, checkpoint: str | None) -> None:
    """Watch a live click stream.

    Clicks of a web shop, a little out of order: every five seconds of event time the most viewed items
    of the last minute, and alerts when somebody clicks too fast or fails to log in again and again. Run
    it again and it goes on where it stopped.

    \b
    Examples:
      penstock demo
      penstock demo --forever --rate 10000
    """
    from penstock.demo import play

    sys.exit(play(None if forever else seconds, rate, checkpoint, fresh))
