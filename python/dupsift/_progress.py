"""How far the work is: bars by tqdm where it is installed, else a line, in a terminal and in a notebook; nothing in a pipe."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Told = Callable[[int, str, int, int, str, bool], None]


def _notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    shell = sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None
    return getattr(shell, "kernel", None) is not None


@contextmanager
def shown(no_progress: bool | None) -> Iterator[Told | None]:
    """A function that shows what it is told; None where nobody looks."""
    if no_progress or not (_notebook() or (sys.stderr is not None and sys.stderr.isatty())):
        yield None
        return
    show = _Bars() if importlib.util.find_spec("tqdm") else _Line()
    try:
        yield show
    finally:
        show.close()


class _Bars:
    """A bar of tqdm a stage, which goes when the stage ends."""

    def __init__(self) -> None:
        if _notebook() and importlib.util.find_spec("ipywidgets"):
            from tqdm.notebook import tqdm
        else:
            from tqdm.std import tqdm
        self._tqdm: Any = tqdm
        self._running: dict[int, Any] = {}

    def __call__(self, number: int, stage: str, done: int, total: int, unit: str, ends: bool) -> None:
        bar = self._running.get(number)
        if bar is None:
            if ends:
                return
            bar = self._running[number] = self._tqdm(desc=stage, total=total, unit=" " + unit, leave=False)
        bar.update(done - bar.n)
        if ends:
            self._running.pop(number).close()

    def close(self) -> None:
        for bar in self._running.values():
            bar.close()


class _Line:
    """One line that is written over."""

    def __init__(self) -> None:
        self._width = 0

    def __call__(self, number: int, stage: str, done: int, total: int, unit: str, ends: bool) -> None:
        self._write("" if ends else f"{stage}: {done:,}/{total:,} {unit}")

    def _write(self, text: str) -> None:
        if not text and not self._width:
            return
        sys.stderr.write("\r" + text.ljust(self._width) + ("" if text else "\r"))
        sys.stderr.flush()
        self._width = len(text)

    def close(self) -> None:
        self._write("")
