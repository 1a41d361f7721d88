"""The command line: the script ``dupsift`` and ``python -m dupsift``."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from . import _dupsift


def main() -> NoReturn:
    """Runs the command line and ends the process with its exit code."""
    # The program handles Ctrl-C itself, unless it was started to ignore it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = _dupsift.main(["dupsift", *sys.argv[1:]])
    # Threads of the program may still handle signals; Python has nothing left to do.
    os._exit(code)
