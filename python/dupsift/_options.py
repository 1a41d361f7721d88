"""Passes keyword arguments to the library and adds their help to docstrings."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from . import _dupsift

F = TypeVar("F", bound=Callable[..., object])

# The file that contains a frame; the ids of its rows (frame.parquet#2) are unchanged.
_FRAME = re.compile(r"(?<![\w/.])(?:/\S*/\.dupsift-frame-[^/\s]*/)?frame\.parquet(?!#)")


def inputs_of(inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """Returns files, folders or globs as strings."""
    if isinstance(inputs, (str, os.PathLike)):
        return [os.fspath(inputs)]
    if not isinstance(inputs, Iterable):
        raise TypeError(f"inputs: expected a path, a glob or a list of them, got {type(inputs).__name__}; dupsift.dedup takes frames")
    return [os.fspath(one) for one in inputs]


def given_of(options: Mapping[str, object]) -> list[tuple[str, object]]:
    """Returns the keywords with values as the library expects them. A keyword with the value None is ignored."""
    return [(name, _value(name, value)) for name, value in options.items() if value is not None]


def _value(name: str, value: object) -> object:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        pairs = ((key, str(one).lower() if isinstance(one, bool) else one) for key, one in value.items())
        return ",".join(f"{key}={one}" for key, one in pairs)
    if isinstance(value, (list, tuple)):
        return [os.fspath(one) for one in value]
    if isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"{name}=: expected a string, a number, a path, True or False, got {type(value).__name__}")


def spelled(sentence: str) -> str:
    """Returns a sentence from a record, with the options in backticks spelled as keywords, and without the file that contains the frame."""
    verbs = ("run", "compare", "purify", "contaminated")
    names = {name.replace("_", "-") for verb in verbs for name, *_ in _dupsift.options(verb)}
    sentence = _FRAME.sub("the frame", sentence)
    return re.sub(r"`([a-z-]+)", lambda found: found[0].replace("-", "_") if found[1] in names else found[0], sentence)


def with_keywords(verb: str, but: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Adds the keywords of a command to the docstring of a function."""

    def add(function: F) -> F:
        lines, last = ["", "Keywords", "--------"], ""
        for name, heading, kind, words, default in _dupsift.options(verb):
            if name in but:
                continue
            if heading != last:
                lines += ["", f"{heading}:"]
                last = heading
            ends = f" [default: {default}]" if default else ""
            text = f"{name}: {kind}. {words}{ends}"
            lines += textwrap.wrap(text, 100, initial_indent="  ", subsequent_indent="      ")
        function.__doc__ = textwrap.dedent(function.__doc__ or "").rstrip() + "\n" + "\n".join(lines) + "\n"
        return function

    return add
