"""The part of quality.py that compares runs with different threads, memory, file boundaries and document order."""

import hashlib
import random
import re
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq

# Anonymous memory stays below the memory limit + 150 MB + 30 times the longest document.
FIXED_MEMORY = 150_000_000


def digest(out):
    """Returns a hash of all files in pairs/, clusters/ and removed/."""
    whole = hashlib.sha256()
    for kind in ("pairs", "clusters", "removed"):
        for path in sorted((out / kind).rglob("*.parquet")):
            whole.update(str(path.relative_to(out)).encode() + b"\0" + path.read_bytes())
    return whole.hexdigest()


def measure(quality, out, labels):
    """Checks that the bytes do not depend on the machine, and the pairs not on the order of documents."""
    docs, algorithms = quality.docs("mixed-100m"), ",".join(labels)
    expected = digest(out)
    refused = subprocess.run(
        [quality.dupsift, "run", str(docs), "--out", str(quality.work / "none"), "--threads", "2", "--memory", "1MiB"],
        capture_output=True, text=True,
    )
    least = re.search(r"the minimum is ([\d.]+) (\w+)", refused.stderr)
    if not least:
        sys.exit(f"--memory 1MiB was not rejected with a message that names the minimum:\n{refused.stderr}")
    least = "".join(least.groups()).replace(".0", "")
    quality.say(
        "### The same bytes",
        "",
        "All seven on mixed-100m; SHA-256 over all files of `pairs/`, `clusters/` and `removed/`, held against a run with",
        "the default threads and memory (two cores here). Peak: the highest anonymous memory sampled; allowed: the budget + 150 MB + 30",
        "times the longest document.",
        "",
        "| run | bytes | peak, MB | allowed, MB | CPU s |",
        "| --- | --- | ---: | ---: | ---: |",
    )
    texts = pq.read_table(docs, columns=["id", "text"])
    longest = max(len(text.encode()) for text in texts["text"].to_pylist())

    def line(name, other, budget):
        facts = quality.report(other)
        peak, allowed = facts["peak_memory_bytes"], budget + FIXED_MEMORY + 30 * longest if budget else None
        same = quality.floor(digest(other) == expected, f"mixed-100m, {name}: different bytes")
        if allowed:
            quality.floor(peak <= allowed, f"mixed-100m, {name}: {peak / 1e6:.0f} MB of anonymous memory, {allowed / 1e6:.0f} allowed")
        limit = f"{allowed / 1e6:.0f}" if allowed else "-"
        quality.say(f"| {name} | {'the same' if same == 'holds' else 'OTHER'} | {peak / 1e6:.0f} | {limit} | {facts['cpu_seconds']:.1f} |")

    sizes = {"MiB": 1 << 20, "GiB": 1 << 30}
    line("defaults", out, None)
    line("1 thread", quality.run("mixed-1-thread", [docs], algorithms, "--threads", "1"), None)
    for threads, memory in [(2, least), (1, least), (2, "64MiB"), (2, "256MiB"), (2, "4GiB")]:
        other = quality.run(f"mixed-{memory}", [docs], algorithms, "--threads", threads, "--memory", memory)
        line(f"{threads} thread{'s' if threads > 1 else ''}, --memory {memory}", other, int(float(memory[:-3]) * sizes[memory[-3:]]))
    cut = quality.work / "mixed-cut"
    cut.mkdir(exist_ok=True)
    step = -(-texts.num_rows // 7)
    for number in range(7):
        pq.write_table(texts.slice(number * step, step), cut / f"part-{number}.parquet")
    line("cut into 7 files", quality.run("mixed-7-files", [cut], algorithms), None)

    order = list(range(texts.num_rows))
    random.Random(11).shuffle(order)
    shuffled = quality.work / "mixed-shuffled.parquet"
    pq.write_table(texts.take(pa.array(order)), shuffled)
    other = quality.run("mixed-other-order", [shuffled], algorithms)
    differing = [label for label in labels if quality.pairs_of(other, label) != quality.pairs_of(out, label)]
    state = quality.floor(not differing, "mixed-100m in another order: other pairs of ids by " + ", ".join(differing))
    quality.say("", f"With the documents in another order the pairs of ids are the same for each of the seven: {state}.", "")
