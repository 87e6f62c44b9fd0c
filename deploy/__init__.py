"""Getting Doorkeeper onto a machine. `python3 -m deploy` sets up a clone; it needs Python and pip, nothing else."""
