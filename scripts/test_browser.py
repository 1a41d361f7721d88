#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["axe-core-python", "selenium"]
# ///
"""Tests report.html in a browser: accessibility with axe-core (WCAG 2.1 A and AA), and the layout at 400 and 1280 pixels.

Each page is opened at 400 pixels in dark mode and at 1280 pixels in light mode, folded and with everything unfolded. The script checks that

* axe-core reports nothing,
* nothing is wider than the window, except boxes that scroll,
* tables are sorted by a click, and show the same rows without scripts,
* j and k move through the removals, and a tick moves a pair from the right removals to the wrong removals,
* the browser reports no error, so that the content security policy allows the page's own script,
* the page of a small corpus is less than 6,200 pixels high at 1280 (`--small`),
* a printed page needs few sheets, because folded parts stay folded.

    python scripts/test_browser.py --dupsift target/release/dupsift data-samples/docs --shots out/browser

It requires the system's Chromium and its driver (Debian: chromium, chromium-driver), selenium and axe-core-python
(scripts/requirements-browser.txt), and no network. Check the screenshots by eye.
"""

import argparse
import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# The library must not search for drivers on the network or report statistics.
os.environ.update(SE_OFFLINE="true", SE_AVOID_STATS="true")

import packages

import axe_core_python
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

# Colors do not depend on the width, nor the layout on the colors, so two of the four combinations are enough.
SCREENS = [(400, "dark"), (1280, "light")]
HIGHEST = 6_200
SHEETS = 8
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    # The shared memory of a container may be too small.
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']})
  .then((found) => done(found.violations.map((one) =>
    one.id + ' (' + one.impact + '): ' + one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(' | '))))
  .catch((error) => done(['axe failed: ' + error]));
"""
# Elements that extend beyond the right edge of the window, and are not in a box that scrolls.
TOO_WIDE = """
const width = document.documentElement.clientWidth;
return Array.from(document.querySelectorAll('main *, header *'))
  .filter((one) => one.getBoundingClientRect().right > width + 1 && !one.closest('.scroll'))
  .slice(0, 3).map((one) => one.outerHTML.slice(0, 160));
"""
CLIPPED = """
return Array.from(document.querySelectorAll('.scroll'))
  .filter((one) => one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.getAttribute('aria-label')}: ${one.scrollWidth} in ${one.clientWidth} pixels`);
"""
CELLS = """
return Array.from(document.querySelectorAll('table.sort')).map((table) =>
  Array.from(table.tBodies[0].rows).map((row) => row.textContent));
"""
SORTS = """
const wrong = [];
for (const table of document.querySelectorAll('table.sort')) {
  const rows = () => Array.from(table.tBodies[0].rows);
  if (rows().length < 2) continue;
  const button = table.tHead.rows[0].cells[1].querySelector('button');
  if (!button) { wrong.push('no button: ' + table.tHead.textContent); continue; }
  button.click();
  const heading = button.parentElement;
  const values = rows().map((row) => parseFloat((row.cells[1].dataset.value || row.cells[1].textContent).replace(/,/g, '')));
  const numbers = values.filter((one) => !Number.isNaN(one));
  if (heading.getAttribute('aria-sort') !== 'descending') wrong.push('not said: ' + table.tHead.textContent);
  if (numbers.length === values.length && numbers.some((one, at) => at > 0 && numbers[at - 1] < one)) wrong.push(values.join());
}
return wrong;
"""
# Browses the removals one by one: keys, a tick, and the data that would be saved.
BROWSE = """
const browse = document.querySelector('.browse');
if (!browse) return [];
const wrong = [];
const type = (key) => document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
const expect = (text) => { if (!browse.textContent.includes(text)) wrong.push('removals: no ' + text); };
expect('1 of ');
type('j');
expect('2 of ');
browse.querySelector('input[type=checkbox]').click();
expect('Save 1 correct as labels.csv');
expect('Save 1 wrong as wrong.csv');
type('k');
expect('1 of ');
if (browse.querySelectorAll('details').length !== 1) wrong.push('removals: more than one is shown');
return wrong;
"""


def browser(chromium: str, driver: str, profile: str) -> webdriver.Chrome:
    options = Options()
    options.binary_location = chromium
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    chrome = webdriver.Chrome(options=options, service=Service(driver))
    # On a busy machine, axe-core takes longer than the usual 30 s.
    chrome.set_script_timeout(180)
    return chrome


def look(driver: webdriver.Chrome, page: Path, small: bool, shots: Path | None) -> list[str]:
    """Returns the problems of one page."""
    axe = (Path(axe_core_python.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    wrong = []
    for width, scheme in SCREENS:
        where = f"{page} at {width}, {scheme}"
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        driver.get(page.as_uri())
        high = driver.execute_script("return document.documentElement.scrollHeight")
        if small and width == 1280 and high >= HIGHEST:
            wrong.append(f"{where}: {high} pixels high; expected less than {HIGHEST}")
        if shots:
            shots.mkdir(parents=True, exist_ok=True)
            size = {"width": width, "height": high, "deviceScaleFactor": 1, "mobile": False}
            driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
            driver.save_screenshot(str(shots / f"{page.parent.name}-{width}-{scheme}.png"))
        if width == 1280:
            wrong += [f"{where}: clipped: {one}" for one in driver.execute_script(CLIPPED)]
        for unfolded in [False, True]:
            if unfolded:
                driver.execute_script("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
            driver.execute_script(axe)
            found = driver.execute_async_script(AXE)
            found += [f"too wide: {one}" for one in driver.execute_script(TOO_WIDE)]
            wrong += [f"{where}{', unfolded' if unfolded else ''}: {one}" for one in found]
        wrong += [f"{where}: not sorted: {one}" for one in driver.execute_script(SORTS)]
        wrong += [f"{where}: {one}" for one in driver.execute_script(BROWSE)]
        wrong += [f"{where}: {entry['message']}" for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    driver.get(page.as_uri())
    with_scripts = driver.execute_script(CELLS)
    # Starts from an empty page, so that no script of the page runs before the setting takes effect.
    driver.get("about:blank")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    driver.get(page.as_uri())
    # The page's own script is off now, but scripts from the driver still run.
    if driver.execute_script(CELLS) != with_scripts or driver.execute_script("return document.querySelector('th button')"):
        wrong.append(f"{page}: without scripts its tables are others")
    driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    sheets = base64.b64decode(driver.execute_cdp_cmd("Page.printToPDF", {})["data"])
    count = len(re.findall(rb"/Type\s*/Page\b", sheets))
    if not 0 < count <= SHEETS:
        wrong.append(f"{page}: {count} sheets of paper; expected 1 to {SHEETS}")
    if shots:
        (shots / f"{page.parent.name}.pdf").write_bytes(sheets)
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="a small corpus to run and compare; both pages are tested")
    parser.add_argument("--dupsift", required=True, type=Path, help="the program")
    parser.add_argument("--shots", type=Path, help="a folder for screenshots at both widths, light and dark")
    parser.add_argument("--page", type=Path, action="append", default=[], help="another page to test as it is")
    arguments = parser.parse_args()
    programs = {name: shutil.which(name) for name in ["chromium", "chromedriver"]}
    missing = [name for name, found in programs.items() if not found]
    if missing:
        sys.exit(f"{' and '.join(missing)}: not in PATH; Debian has them as chromium and chromium-driver")
    with tempfile.TemporaryDirectory() as folder:
        outs = {}
        for verb, more in [("run", []), ("compare", ["--algorithms", "balanced,minhash,simhash", "--judge-sample", "200"])]:
            outs[verb] = Path(folder) / verb
            done = subprocess.run(
                [arguments.dupsift, verb, arguments.corpus, "--out", outs[verb], *more], capture_output=True, text=True
            )
            if done.returncode not in (0, 3):
                sys.exit(f"{verb} ended with {done.returncode}: {done.stderr}")
        driver = browser(programs["chromium"], programs["chromedriver"], str(Path(folder) / "profile"))
        try:
            wrong = look(driver, outs["run"] / "report.html", True, arguments.shots)
            for page in [outs["compare"] / "report.html", *arguments.page]:
                wrong += look(driver, page.resolve(), False, arguments.shots)
        finally:
            driver.quit()
    print("\n".join(wrong) if wrong else "axe-core reports nothing; both pages pass at 400 pixels in dark mode and at 1280 pixels in light mode")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
