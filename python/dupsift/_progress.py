"""Shows progress in a terminal or a notebook: bars if tqdm is installed, otherwise a line. Prints nothing to a pipe."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

Listener = Callable[[int, str, int, int, str, bool, int, int], None]


class Progress(NamedTuple):
    """The progress of a call. ``progress=`` receives it up to ten times a second for each stage."""

    stage: str
    """The name of the stage."""
    done: int
    """The number of finished units."""
    total: int
    """The total number of units."""
    unit: str
    """What is counted: ``documents``, ``bytes`` (of a download) or ``items``."""
    step: int
    """The number of the step that the stage belongs to, starting at 1; 0 if it is unknown."""
    steps: int
    """The number of steps; 0 if it is unknown."""


def _notebook() -> bool:
    """Returns whether the code runs in a Jupyter kernel."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


def _named(stage: str, step: int, steps: int) -> str:
    return f"stage {step} of {steps}: {stage}" if steps else stage


@contextmanager
def shown(no_progress: bool | None, progress: Callable[[Progress], object] | None = None) -> Iterator[Listener | None]:
    """Returns a function that shows progress or passes it to the caller's function. Returns None if there is no place to show progress.

    Raises TypeError for anything but a function.
    """
    if progress is not None and not callable(progress):
        raise TypeError(f"progress=: expected a function, got {type(progress).__name__}")
    if progress is not None:
        yield _Called(progress)
        return
    if no_progress or not (_notebook() or (sys.stderr is not None and sys.stderr.isatty())):
        yield None
        return
    show = _Bars() if importlib.util.find_spec("tqdm") else _Line()
    try:
        yield show
    finally:
        show.close()


class _Called:
    """Calls the caller's function."""

    def __init__(self, function: Callable[[Progress], object]) -> None:
        self._function = function

    def __call__(self, number: int, stage: str, done: int, total: int, unit: str, ends: bool, step: int, steps: int) -> None:
        self._function(Progress(stage, done, total, unit, step, steps))


class _Bars:
    """Shows one tqdm bar per stage, and removes it when the stage ends."""

    def __init__(self) -> None:
        if _notebook() and importlib.util.find_spec("ipywidgets"):
            from tqdm.notebook import tqdm
        else:
            from tqdm.std import tqdm
        self._tqdm: Any = tqdm
        self._running: dict[int, Any] = {}

    def __call__(self, number: int, stage: str, done: int, total: int, unit: str, ends: bool, step: int, steps: int) -> None:
        bar = self._running.get(number)
        if bar is None:
            if ends:
                return
            bar = self._running[number] = self._tqdm(desc=_named(stage, step, steps), total=total, unit=" " + unit, leave=False)
        bar.update(done - bar.n)
        if ends:
            self._running.pop(number).close()

    def close(self) -> None:
        for bar in self._running.values():
            bar.close()


class _Line:
    """Shows progress on a single line that is overwritten."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, number: int, stage: str, done: int, total: int, unit: str, ends: bool, step: int, steps: int) -> None:
        self._write("" if ends else f"{_named(stage, step, steps)}: {done:,}/{total:,} {unit}")

    def _write(self, text: str) -> None:
        if not text and not self._width:
            return
        sys.stderr.write("\r" + text.ljust(self._width) + ("" if text else "\r"))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        self._write("")
