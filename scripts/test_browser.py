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
* j and k move through the removals,
* ten removals are judged with keys; the labels survive a reload, are exported and imported, and `dupsift evaluate` reads them,
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
import time
from pathlib import Path

# The library must not search for drivers on the network or report statistics.
os.environ.update(SE_OFFLINE="true", SE_AVOID_STATS="true")

import packages

import axe_core_python
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

# Colors do not depend on the width, nor the layout on the colors, so two of the four combinations are enough.
SCREENS = [(400, "dark"), (1280, "light")]
# The height depends on the fonts of the machine: about 6,000 to 6,220 pixels.
HIGHEST = 6_500
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
# Moves through the removals.
BROWSE = """
const browse = document.querySelector('.browse');
if (!browse) return [];
const wrong = [];
const type = (key) => document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
const expect = (text) => { if (!browse.textContent.includes(text)) wrong.push('removals: no ' + text); };
expect('1 of ');
type('j');
expect('2 of ');
type('k');
expect('1 of ');
if (browse.querySelectorAll('details').length !== 1) wrong.push('removals: more than one is shown');
return wrong;
"""
# Takes the store for labels from a page.
NO_STORE = "Object.defineProperty(window, 'localStorage', {get() { throw new Error('no store'); }});"


def installed() -> dict[str, str]:
    """Returns the paths of Chromium and its driver; exits if one is missing."""
    programs = {name: shutil.which(name) for name in ["chromium", "chromedriver"]}
    missing = [name for name, found in programs.items() if not found]
    if missing:
        sys.exit(f"{' and '.join(missing)}: not in PATH; Debian has them as chromium and chromium-driver")
    return {name: found for name, found in programs.items() if found}


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


def judge(driver: webdriver.Chrome, dupsift: Path, out: Path, folder: Path) -> list[str]:
    """Judges ten removals with keys, reloads the page, exports and imports the labels, and evaluates them. Returns the problems."""
    wrong = []
    downloads = folder / "downloads"
    downloads.mkdir()
    driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(downloads)})

    def expect(what: str, found: object, expected: object) -> None:
        if found != expected:
            wrong.append(f"judging: {what}: {found!r}; expected {expected!r}")

    def one(selector: str):
        return driver.find_element(By.CSS_SELECTOR, f".browse {selector}")

    def type_keys(keys: str) -> None:
        for key in keys:
            ActionChains(driver).send_keys(key).perform()

    def status() -> str:
        return one("[role=status]").text

    def place() -> str:
        return one(".steps span").text

    def load(script: str = "") -> None:
        """Opens the page in a state that no earlier step of this test left."""
        added = driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": script}) if script else None
        driver.get((out / "report.html").as_uri())
        if added:
            driver.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", added)

    load()
    driver.execute_script("localStorage.clear()")
    load()
    expect("the start", status(), "Nothing is judged as right or wrong yet.")
    # The most doubtful removal comes first. If it alone is judged, it is no random choice.
    is_chance = driver.execute_script("return document.querySelector('.browse details').dataset.rank === '0'")
    type_keys("n")
    expect("a choice by doubt", "no random choice" in status(), not is_chance)
    type_keys("kn")
    expect("a label that is taken back", status(), "Nothing is judged as right or wrong yet.")
    Select(one("select")).select_by_visible_text("by chance")
    driver.execute_script("document.activeElement.blur()")
    type_keys("yyyynyyyuy")
    told = status()
    found = re.match(r"8 of 9 right: (\d+)% to (\d+)%. This is the 95% interval for all ([\d,]+) removed near-duplicates. 1 unsure.$", told)
    if not found:
        return [*wrong, f"judging: {told}"]
    load()
    expect("after a reload", (status().split(".")[0], status().count("unsure")), (told.split(".")[0], 1))
    export = driver.find_element(By.XPATH, "//button[starts-with(., 'Export')]")
    expect("the export", export.text, "Export 10 as labels.csv")
    export.send_keys(Keys.ENTER)
    labels = downloads / "labels.csv"
    for _ in range(100):
        if labels.exists():
            break
        time.sleep(0.1)
    lines = labels.read_text(encoding="utf-8").splitlines()
    expect("the labels", (lines[0], len(lines), sum(line.endswith(",right") for line in lines)), ("id_a,id_b,label", 11, 8))
    done = subprocess.run([dupsift, "evaluate", out, "--truth", labels], capture_output=True, text=True)
    evaluated = re.search(r"removals: 8 of 9 labeled are right, 1 unsure or not labeled: precision (\S+)\s+\(95% interval (\S+)-(\S+)\) for all ([\d,]+) ", done.stdout)
    if done.returncode != 0 or not evaluated:
        wrong.append(f"judging: evaluate ended with {done.returncode}: {done.stdout}{done.stderr}")
    else:
        low, high = (float(evaluated[at]) for at in (2, 3))
        page_low, page_high = int(found[1]), int(found[2])
        is_same = page_low <= 100 * low < page_low + 1.1 and page_high - 1.1 < 100 * high <= page_high
        expect("the interval", (is_same, evaluated[4]), (True, found[3]))
    # Filters and the search change the list, and keys that are typed into the search judge nothing.
    count = place().split(" of ")[1]
    facet = Select(driver.find_elements(By.CSS_SELECTOR, ".browse select")[1])
    facet.select_by_index(1)
    shown = re.search(r"\((\d+)\)$", facet.first_selected_option.text)[1]
    expect("a filter", place(), f"1 of {shown}")
    facet.select_by_index(0)
    driver.execute_script("document.activeElement.blur()")
    type_keys("/")
    type_keys("no such text")
    expect("the search", (place(), one("div > p").text), ("0 of 0", "No removal matches."))
    ActionChains(driver).key_down(Keys.CONTROL).send_keys("a").key_up(Keys.CONTROL).send_keys(Keys.BACKSPACE).perform()
    expect("all", place(), f"1 of {count}")
    expect("after the search", status().split(".")[0], told.split(".")[0])
    # A browser without a store says so, and goes on with imported labels.
    load(NO_STORE)
    expect("without a store", "does not keep the labels" in status(), True)
    one("input[type=file]").send_keys(str(labels))
    WebDriverWait(driver, 10).until(lambda _: "8 of 9 right" in status())
    driver.execute_script("document.activeElement.blur()")
    wrong += [f"judging: {entry['message']}" for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]
    load()
    driver.execute_script("localStorage.clear()")
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, help="a small corpus to run and compare; both pages are tested")
    parser.add_argument("--dupsift", required=True, type=Path, help="the program")
    parser.add_argument("--shots", type=Path, help="a folder for screenshots at both widths, light and dark")
    parser.add_argument("--page", type=Path, action="append", default=[], help="another page to test as it is")
    arguments = parser.parse_args()
    programs = installed()
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
            wrong += judge(driver, arguments.dupsift.resolve(), outs["run"], Path(folder))
            for page in [outs["compare"] / "report.html", *arguments.page]:
                wrong += look(driver, page.resolve(), False, arguments.shots)
        finally:
            driver.quit()
    print("\n".join(wrong) if wrong else "axe-core reports nothing; both pages pass at 400 pixels in dark mode and at 1280 pixels in light mode; ten removals are judged")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
