"""The frame that the tests of frames share, and the check of its result."""

from __future__ import annotations

import importlib.util
import unittest
from typing import Any

import dupsift as ds
from corpora import Case

TEXTS = [
    "The committee met on Tuesday and agreed that the bridge over the river will be repaired before the winter comes.",
    "委员会周二开会，同意在冬天到来之前修好河上的桥，并且请市长在三月之前报告花了多少钱。",
    "The committee met on Tuesday and agreed that the bridge over the river will be repaired before the winter comes.",
    None,
    "Комитет собрался во вторник и решил, что мост через реку починят до наступления зимы, а мэр доложит о расходах в марте.",
    "委员会周二开会，同意在冬天到来之前修好河上的桥，并且请市长在三月之前报告花了多少钱。",
]
IDS = [f"u{row}" for row in range(len(TEXTS))]
KEPT = [True, True, False, True, True, False]
COLUMNS = {"body": TEXTS, "url": IDS, "other": list(range(len(TEXTS)))}


def needs(*names: str) -> Any:
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class FrameCase(Case):
    def check(self, frame: object, **options: Any) -> ds.Result:
        result = ds.dedup(frame, text_column="body", id_column="url", algorithms="exact", no_report=True, **options)
        self.assertEqual(list(result.kept_mask), KEPT)
        self.assertEqual(list(result.kept_rows), [0, 1, 3, 4])
        self.assertEqual((len(result.removed()), len(result.rejected())), (2, 1))
        return result
