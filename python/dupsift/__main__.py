"""Runs the command line with ``python -m dupsift``."""

from ._cli import main

if __name__ == "__main__":
    main()
