"""A Jupyter kernel shows results and survives Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import unittest
from unittest import mock

import dupsift as ds
import nbformat
from corpora import DOCS, Case
from nbclient import NotebookClient

RUN = """
try:
    dupsift.run({corpus!r}, out="out", algorithms="all", threads=1, checkpoint="never", no_progress=True)
    told = "not stopped"
except KeyboardInterrupt as stopped:
    told = f"said: {{stopped}}"
told
"""


class Notebook(Case):
    def client(self, *cells: str) -> NotebookClient:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        return NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(self.folder)}})

    def test_a_result_is_a_table(self) -> None:
        client = self.client(f"import dupsift\ndupsift.run({str(DOCS)!r}, out='out', algorithms='exact')")
        client.execute()
        data = client.nb.cells[0].outputs[-1]["data"]
        self.assertIn("report.html", data["text/html"])
        self.assertIn("<pre>2,455 documents in 3 files", data["text/html"])
        # The bar has the numbers of the summary.
        self.assertIn('<div title="exact copies: 262"', data["text/html"])

    def test_a_result_is_plotted(self) -> None:
        run = f"dupsift.run({str(DOCS)!r}, out='out', no_report=True)"
        client = self.client(f"import dupsift\nr = {run}", "figure = r.plot()\nfigure", "[text.get_text() for text in figure.axes[0].texts], sum(int(bar.get_height()) for bar in figure.axes[1].patches)", "r.report['removal']")
        client.execute()
        self.assertIn("image/png", client.nb.cells[1].outputs[-1]["data"])
        texts, near = eval(client.nb.cells[2].outputs[-1]["data"]["text/plain"])
        removal = eval(client.nb.cells[3].outputs[-1]["data"]["text/plain"])
        self.assertEqual(texts, [f"{count:,}" for count in (removal["kept"], removal["reasons"]["copy"], removal["reasons"]["pair"])])
        self.assertEqual(near, removal["reasons"]["pair"])

    def test_a_plot_says_how_to_get_matplotlib(self) -> None:
        result = ds.dedup(["a text", "a text"], algorithms="exact", no_report=True)
        self.assertNotIn("href", result._repr_html_())
        with mock.patch.dict(sys.modules, {"matplotlib": None, "matplotlib.figure": None}):
            with self.assertRaisesRegex(ImportError, "pip install matplotlib"):
                result.plot()

    def test_tables_and_differences_are_shown(self) -> None:
        rest = "Nobody minds, for it is an old cat that has always lived in this house. It eats at noon and goes out in the evening."
        texts = [f"The cat sleeps on the window all {time} long. {rest}" for time in ("day", "night")]
        client = self.client(
            f"import dupsift\nr = dupsift.dedup({texts!r}, algorithms='minhash:threshold=0.5', remove_if='pair')",
            "r.pairs()",
            "r.explain(0, 1, rows=True)",
        )
        client.execute()
        pairs, difference = (cell.outputs[-1]["data"]["text/html"] for cell in client.nb.cells[1:])
        self.assertIn("<th>algorithm</th><th>id_a</th><th>id_b</th><th>similarity</th><th>relation</th>", pairs)
        self.assertIn("<p>1 row</p>", pairs)
        self.assertIn("all <del>day</del> long", difference)
        self.assertIn("all <ins>night</ins> long", difference)
        # The verdict comes first, and the differences are shown once.
        self.assertTrue(difference.startswith("<p>"), difference[:200])
        self.assertIn("removed in favor of", difference.partition("</p>")[0])
        details = difference.partition("<details>")[2]
        self.assertIn("algorithm   pair", details)
        self.assertNotIn("Nobody minds", details)

    def test_bars_are_shown_and_go(self) -> None:
        run = f"dupsift.run({str(self.endless())!r}, out='out', algorithms='exact,minhash', threads=1, no_report=True)"
        client = self.client("import dupsift\nresult = " + run)
        client.execute()
        told = [one["text"] for one in client.nb.cells[0].outputs if one["output_type"] == "stream" and one["name"] == "stderr"]
        self.assertRegex("".join(told), r"\rstage \d of \d: sign: +\d+%\|")

    def test_ctrl_c_leaves_the_kernel_alive(self) -> None:
        corpus = self.endless()
        client = self.client("import dupsift", RUN.format(corpus=str(corpus)), "6 * 7")
        sent: list[float] = []

        with client.setup_kernel():
            pid = client.km.provisioner.pid
            client.execute_cell(client.nb.cells[0], 0)

            def interrupt() -> None:
                until = time.monotonic() + 60
                while os.listdir(self.folder) == [corpus.name] and time.monotonic() < until:
                    time.sleep(0.02)
                time.sleep(1)
                sent.append(time.monotonic())
                os.kill(pid, signal.SIGINT)

            thread = threading.Thread(target=interrupt)
            thread.start()
            stopped = client.execute_cell(client.nb.cells[1], 1)
            thread.join()
            seconds = time.monotonic() - sent[0]
            answer = client.execute_cell(client.nb.cells[2], 2)
        self.assertRegex(stopped.outputs[-1]["data"]["text/plain"], "said: stop(ped|ping) (in|before)")
        self.assertLess(seconds, 2.5)
        self.assertEqual(answer.outputs[-1]["data"]["text/plain"], "42")
        self.assertEqual(os.listdir(self.folder), [corpus.name])


if __name__ == "__main__":
    unittest.main()
