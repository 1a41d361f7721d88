"""Exceptions that dupsift raises in addition to ``ValueError``, ``TypeError``, ``OSError`` and ``KeyboardInterrupt``."""


class Error(RuntimeError):
    """The base class of dupsift's own exceptions."""


class InputError(Error, ValueError):
    """An input file or, with ``strict=True``, a row of an input file cannot be used. The message names the file and the row."""


class DamagedError(Error):
    """A temporary file has changed: the disk of ``work=`` is faulty, or another program wrote to the file."""
