"""`python -m proxy` is `doorkeeper`."""

from proxy.cli import main

main(prog_name="doorkeeper")
