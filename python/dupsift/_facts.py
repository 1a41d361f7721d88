"""Lists the available algorithms and presets, for forms and documentation."""

from __future__ import annotations

import json
from dataclasses import dataclass

from . import _dupsift


@dataclass(frozen=True)
class Parameter:
    """A parameter of an algorithm, as in ``minhash:bands=20``."""

    name: str
    kind: str
    """``int``, ``real``, ``flag``, ``choice``, ``verify`` or ``margin``."""
    default: str
    value: str
    """Type and range in readable form."""
    help: str
    low: float | None = None
    high: float | None = None
    words: tuple[str, ...] | None = None
    """The words of a choice, or the names of checks."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm and its documentation."""

    name: str
    aliases: tuple[str, ...]
    summary: str
    source: str
    when_not_to_use: str
    inputs: str
    """What it reads: ``text``, and any other columns or statistics."""
    params: tuple[Parameter, ...]
    presets: dict[str, str]
    """The names for ``preset=``, each with the parameters that it sets."""


@dataclass(frozen=True)
class Preset:
    """A named list of algorithms, for ``preset=``."""

    name: str
    summary: str
    algorithms: str
    options: dict[str, str]
    """Keywords that the preset also sets."""
    is_default: bool


def _parameter(one: dict[str, object]) -> Parameter:
    words = one.pop("words", None)
    return Parameter(**one, words=tuple(words) if words else None)  # type: ignore[arg-type]


def algorithms() -> list[Algorithm]:
    """Returns all algorithms, sorted by name.

        for one in dupsift.algorithms():
            print(one.name, one.summary)
    """
    return [
        Algorithm(
            name=one["name"],
            aliases=tuple(one["aliases"]),
            summary=one["summary"],
            source=one["source"],
            when_not_to_use=one["when_not_to_use"],
            inputs=one["inputs"],
            params=tuple(map(_parameter, one["parameters"])),
            presets={preset["name"]: preset["values"] for preset in one["presets"]},
        )
        for one in json.loads(_dupsift.algorithms())
    ]


def presets() -> list[Preset]:
    """Returns all presets of ``run``, the default first."""
    return [
        Preset(name, summary, algorithms, {key.replace("-", "_"): value for key, value in options}, is_default)
        for name, summary, algorithms, options, is_default in _dupsift.presets()
    ]
