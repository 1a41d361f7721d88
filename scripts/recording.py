#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# ///
"""Records a real run of dupsift in a terminal and writes it as an animated SVG: docs/recording.svg.

The commands run one after the other in a pseudo-terminal over data-samples. Their output is rendered as a terminal would, and the SVG shows
each screen as text for the same time. If animations are off or unsupported, it shows the last screen.

    scripts/recording.py --dupsift target/release/dupsift --write docs/recording.svg
"""

import argparse
import codecs
import fcntl
import os
import pty
import re
import shlex
import struct
import sys
import tempfile
import termios
import time
import unicodedata
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EDITING = "Microsoft.PowerShell.Core/About/about_Line_Editing"
COMMANDS = [
    "dupsift run data-samples/docs --out out",
    f"dupsift explain out psdocs:5.1/{EDITING} psdocs:7.6/{EDITING} | head -26",
]
COLUMNS, LINES = 100, 30

# Seconds: minimum for a screen, at the end of a command, and for the command line before it runs.
LEAST, AFTER, BEFORE = 0.12, 5.0, 1.0

# Width of a character, height of a line, and margin, in pixels.
CELL, LINE, MARGIN = 8.0, 18, 14
COLOURS = {"": "#e6e6e6", "31": "#ff8a80", "32": "#8bd98b", "33": "#f0c674", "34": "#82b1ff", "35": "#d8a6ff", "36": "#7fd6d6", "1": "#ffffff", "2": "#b0b0b0"}
CONTROL = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\x1b.|[\r\n\b]|[^\x1b\r\n\b]")


class Screen:
    """Holds the content of a terminal: a cell is a character and its color; a wide character is followed by an empty cell."""

    def __init__(self):
        self.rows = [[]]
        self.row = self.column = 0
        self.colour = ""

    def feed(self, text):
        for found in CONTROL.finditer(text):
            if found[2]:
                self.control(found[1], found[2])
            elif found[0] == "\r":
                self.column = 0
            elif found[0] == "\n":
                self.down()
            elif found[0] == "\b":
                self.column = max(0, self.column - 1)
            elif found[0] >= " ":
                self.put(found[0])

    def control(self, numbers, letter):
        count = int(numbers) if numbers.isdigit() else 1
        if letter == "A":
            self.row = max(0, self.row - count)
        elif letter == "B":
            for _ in range(count):
                self.down()
        elif letter == "K":
            self.rows[self.row] = [] if numbers == "2" else self.rows[self.row][: self.column]
        elif letter == "m":
            known = [number for number in numbers.split(";") if number in COLOURS]
            self.colour = known[-1] if known else ""

    def down(self):
        self.row += 1
        if self.row == len(self.rows):
            self.rows.append([])

    def put(self, letter):
        wide = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if self.column + wide > COLUMNS:
            self.column = 0
            self.down()
        cells = self.rows[self.row]
        cells += [(" ", "")] * (self.column + wide - len(cells))
        cells[self.column : self.column + wide] = [(letter, self.colour)] + [("", "")] * (wide - 1)
        self.column += wide

    def seen(self):
        """Returns the last lines, each as runs of one color."""
        lines = []
        for row in self.rows[-LINES:]:
            runs = []
            for letter, colour in row:
                if runs and (colour == runs[-1][1] or not letter):
                    runs[-1][0] += letter
                else:
                    runs.append([letter, colour])
            lines.append(tuple(map(tuple, runs)))
        return tuple(lines)


def child(command, folder, program):
    """Replaces this process by a shell that runs the command as typed, with `dupsift` as this program."""
    os.chdir(folder)
    environment = {"TERM": "xterm-256color", "COLUMNS": str(COLUMNS), "LINES": str(LINES), "LANG": "C.UTF-8", "PATH": os.environ["PATH"]}
    os.execve("/bin/sh", ["sh", "-c", f'dupsift() {{ {shlex.quote(str(program))} "$@"; }}; {command}'], environment)


def played(screen, command, folder, program):
    """Runs a command; yields each screen, and the seconds for which it was shown."""
    screen.feed(f"\x1b[36m$\x1b[0m \x1b[1m{command}\x1b[0m\r\n")
    yield screen.seen(), BEFORE
    pid, terminal = pty.fork()
    if pid == 0:
        child(command, folder, program)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    last = time.monotonic()
    while True:
        try:
            got = os.read(terminal, 65536)
        except OSError:  # Linux reports in this way that the other end is closed.
            break
        if not got:
            break
        now = time.monotonic()
        if now - last >= LEAST:
            yield screen.seen(), now - last
            last = now
        screen.feed(decoder.decode(got))
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code != 0:
        sys.exit(f"{command}: exit code {code}\n" + "\n".join("".join(run for run, _ in line) for line in screen.seen()))
    yield screen.seen(), AFTER
    screen.feed("\r\n")


def width(text):
    """Returns the width of a text in cells."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def drawn(frame):
    """Draws a screen. Each part between wide spaces has its own position, so that columns are aligned in any font."""
    lines = []
    for at, runs in enumerate(frame):
        column = 0
        for text, colour in runs:
            fill = f' fill="{COLOURS[colour]}"' if colour else ""
            for part in re.finditer("[^ ]+( [^ ]+)*", text):
                x, y = MARGIN + (column + width(text[: part.start()])) * CELL, MARGIN + (at + 1) * LINE - 5
                lines.append(f'<text x="{x:g}" y="{y}" textLength="{width(part[0]) * CELL:g}"{fill}>{escape(part[0], quote=False)}</text>')
            column += width(text)
    return "".join(lines)


def svg(frames):
    """Returns the SVG: frames are stacked, and each is visible during its part of the total time."""
    total = sum(seconds for _, seconds in frames)
    wide, high = COLUMNS * CELL + 2 * MARGIN, LINES * LINE + 2 * MARGIN
    rules, groups, begin = [], [], 0.0
    for number, (frame, seconds) in enumerate(frames):
        start, end = (f"{100 * at / total:.3f}%" for at in (begin, begin + seconds))
        shown = f"{start}{{visibility:visible}}" + ("" if number + 1 == len(frames) else f"{end}{{visibility:hidden}}")
        hidden = "" if number == 0 else "0%{visibility:hidden}"
        rules.append(f"@keyframes k{number}{{{hidden}{shown}}}#f{number}{{animation:k{number} {total:.2f}s step-end infinite}}")
        kept = "visible" if number + 1 == len(frames) else "hidden"
        groups.append(f'<g id="f{number}" visibility="{kept}">{drawn(frame)}</g>')
        begin += seconds
    title = "A run of dupsift over the samples, and why two documents are a pair"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {high:g}" width="{wide:g}" height="{high:g}" role="img">',
        f"<title>{title}</title>",
        "<style>text{font:13px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}",
        *rules,
        "@media (prefers-reduced-motion:reduce){g{animation:none!important}}</style>",
        f'<rect width="100%" height="100%" rx="8" fill="#16181d"/><g fill="{COLOURS[""]}">',
        *groups,
        "</g></svg>\n",
    ])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dupsift", type=Path, default=ROOT / "target/release/dupsift", help="the program")
    parser.add_argument("--write", type=Path, required=True, metavar="FILE", help="the SVG")
    arguments = parser.parse_args()
    program = arguments.dupsift.resolve()
    if not program.is_file():
        sys.exit(f"{arguments.dupsift} is not a program; build it with `cargo build --release`, or name it with --dupsift")
    frames = []
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(ROOT / "data-samples", Path(folder) / "data-samples")
        screen = Screen()
        for command in COMMANDS:
            for frame, seconds in played(screen, command, folder, program):
                if frames and frames[-1][0] == frame:
                    frames[-1][1] += seconds
                else:
                    frames.append([frame, seconds])
    arguments.write.write_text(svg(frames), encoding="utf-8")
    print(f"{arguments.write}: {len(frames)} screens, {sum(seconds for _, seconds in frames):.1f} seconds, {arguments.write.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
