#!/bin/sh
# Prints a line for each missing system program that tests need: its name, its Debian packages, and the tests that need it, separated by tabs.
set -eu
cd "$(dirname "$0")/.."

has() {
  for name; do command -v "$name" >/dev/null 2>&1 || return 1; done
}

sh scripts/java.sh >/dev/null 2>&1 || printf 'Java 17 or later\topenjdk-17-jre-headless\tthe tests on Apache Spark\n'
has chromium chromedriver || printf 'Chromium\tchromium chromium-driver\tthe tests of report.html in a browser\n'
has valgrind || printf 'valgrind\tvalgrind\tthe count of instructions\n'
