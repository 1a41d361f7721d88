"""The command line, as the script ``dupsift`` and as ``python -m dupsift``."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

from . import _dupsift


def main() -> NoReturn:
    """Does what was typed and ends the process with the exit code of the program."""
    # The program listens to Ctrl-C itself, unless it was started to ignore it.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    code = _dupsift.main(["dupsift", *sys.argv[1:]])
    # Threads of the program may still look for signals: nothing of Python is needed any more.
    os._exit(code)
