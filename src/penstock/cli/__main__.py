"""`python -m penstock.cli` is `penstock`."""

from penstock.cli.command import main

main(prog_name="penstock")
