#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["zopflipy"]
# ///
"""Packs wheels anew so that they are as small as Deflate can make them: the same files, which any pip unpacks.

Usage: pack_wheel.py --most BYTES WHEEL...

Each wheel is replaced by the smaller one; it takes two or three minutes for 40 MB. Ends with 1 where one has more bytes than that.
"""

import argparse
import os
import sys
import zipfile

import packages

import zopfli

# More take minutes more and hardly anything off.
ITERATIONS = 5


def pack(path: str) -> int:
    """Writes the wheel beside itself, compares what is in both, and gives the new one its name; says how many bytes it has."""
    half = path + ".half"
    with zipfile.ZipFile(path) as old, zopfli.ZipFile(half, "w", zipfile.ZIP_DEFLATED, iterations=ITERATIONS) as new:
        for entry in old.infolist():
            new.writestr(entry, old.read(entry))
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(half) as new:
        if old.namelist() != new.namelist() or any(old.read(name) != new.read(name) for name in old.namelist()):
            sys.exit(f"pack_wheel.py: error: {half} does not hold what {path} holds")
    before, after = os.path.getsize(path), os.path.getsize(half)
    if after < before:
        os.replace(half, path)
    else:
        os.remove(half)
    print(f"{os.path.basename(path)}: {before / 1e6:.2f} MB, now {min(before, after) / 1e6:.2f} MB")
    return min(before, after)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, required=True, metavar="BYTES")
    parser.add_argument("wheels", nargs="+", metavar="WHEEL")
    args = parser.parse_args()
    large = [wheel for wheel in args.wheels if pack(wheel) > args.most]
    if large:
        sys.exit(f"pack_wheel.py: error: more than {args.most} bytes: {', '.join(large)}")


if __name__ == "__main__":
    main()
