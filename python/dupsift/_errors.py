"""What can go wrong besides ``ValueError``, ``TypeError``, ``OSError`` and ``KeyboardInterrupt``."""


class Error(RuntimeError):
    """The work could not be done. All exceptions that are dupsift's own are of this class."""


class InputError(Error, ValueError):
    """An input file, or with ``strict=True`` a row of one, cannot be used; the sentence names file and row."""


class DamagedError(Error):
    """A work file does not hold what was written to it: the disk of ``work=`` is at fault, or is shared."""
