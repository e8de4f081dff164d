"""`penstock completion`: what a shell needs to complete commands, options, running jobs and settings."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

__all__ = ["completion"]


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print what completes penstock in a shell.

    Commands, options, files and the names of running jobs and of settings are completed with the tab key. Put the line
    into your shell's start-up file:

    \b
      bash  ~/.bashrc                                  eval "$(penstock completion bash)"
      zsh   ~/.zshrc                                   eval "$(penstock completion zsh)"
      fish  ~/.config/fish/completions/penstock.fish   penstock completion fish | source
    """
    made = get_completion_class(shell)
    assert made is not None
    click.echo(made(ctx.find_root().command, {}, "penstock", "_PENSTOCK_COMPLETE").source())
