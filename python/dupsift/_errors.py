"""Exceptions that dupsift raises in addition to ``ValueError``, ``TypeError``, ``OSError`` and ``KeyboardInterrupt``."""


class Error(RuntimeError):
    """The base class of dupsift's own exceptions."""


class InputError(Error, ValueError):
    """An input file cannot be used or, with ``strict=True``, a row of one. The message names the file and the row."""


class DamagedError(Error):
    """A temporary file has changed: the disk of ``work=`` is faulty, or another program wrote to it."""
