#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["axe-core-python", "selenium"]
# ///
"""Takes the picture of report.html that README.md shows: the headline, the bars, and one removed document with its differences marked.

    python scripts/picture.py --dupsift target/release/dupsift data-samples/docs docs/report.png

The picture shows parts of the real page of a run over the corpus. The pair is the one whose English texts have differences closest to `PAIR`
characters, so that the picture stays small. It requires the same programs and packages as test_browser.py.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import packages  # noqa: F401

from test_browser import browser, installed

WIDTH = 960
# Pixels of the picture per pixel of the page, for screens with a high resolution.
SCALE = 1.25
PAIR = 450
CROP = """
const [long] = arguments;
const cards = Array.from(document.querySelectorAll('details[data-ids]')).filter((one) => {
  const difference = one.querySelector('.diff');
  const changed = (row) => row.querySelector('.a del') && row.querySelector('.b ins');
  return difference && Array.from(difference.querySelectorAll('.both')).some(changed) && !difference.textContent.includes('not shown') && /^[\\x20-\\x7e\\s…]*$/.test(difference.textContent);
});
const length = (one) => Math.abs(one.querySelector('.diff').textContent.length - long);
const pair = cards.reduce((best, one) => length(one) < length(best) ? one : best);
pair.open = true;
// The command that explains the pair names a temporary folder.
for (const one of pair.querySelectorAll('.diff ~ *')) one.remove();
const main = document.querySelector('main');
main.replaceChildren(document.querySelector('.bars'), pair);
document.querySelector('header').replaceChildren(document.querySelector('h1'), document.querySelector('header .muted'));
document.documentElement.style.overflow = 'hidden';
return Math.ceil(pair.getBoundingClientRect().bottom + window.scrollY) + 16;
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="the corpus to run")
    parser.add_argument("picture", type=Path, help="the PNG file to write")
    parser.add_argument("--dupsift", required=True, type=Path, help="the program")
    arguments = parser.parse_args()
    programs = installed()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        subprocess.run([arguments.dupsift, "run", arguments.corpus, "--out", out, "--quiet"], check=True)
        driver = browser(programs["chromium"], programs["chromedriver"], str(Path(folder) / "profile"))
        try:
            size = {"width": WIDTH, "height": 900, "deviceScaleFactor": SCALE, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
            # The page's own script would leave one removal on the page, which is chosen at random.
            driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
            driver.get((out / "report.html").as_uri())
            high = driver.execute_script(CROP, PAIR)
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {**size, "height": high})
            driver.save_screenshot(str(arguments.picture))
        finally:
            driver.quit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
