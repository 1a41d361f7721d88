"""Kills `dupsift accept` with SIGKILL at each of its system calls in turn, and checks the folder after each kill.

Usage: killed.py DUPSIFT FOLDER, where FOLDER contains out, an earlier result, and out.held, a result that was held back. Before and after
each kill, one of the two results is complete, and the same command resumes the acceptance. Prints the number of calls at which the program
was killed, and the number of different states in which the folder was left.
"""

import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

LIBC = ctypes.CDLL(None, use_errno=True)
TRACEME, KILL_WITH_TRACER, SYSCALL, SETOPTIONS = 0, 1 << 20, 24, 0x4200
SYSCALLS_ARE_MARKED = 1


def ptrace(request: int, process: int, data: int = 0) -> None:
    """Makes the ptrace system call without an address."""
    arguments = (ctypes.c_long(request), ctypes.c_long(process), ctypes.c_void_p(0), ctypes.c_void_p(data))
    if LIBC.ptrace(*arguments) == -1:
        raise OSError(ctypes.get_errno(), f"ptrace {request}")


def dies_at(call: int, command: list[str]) -> bool:
    """Runs the command and kills it before the system call with this number; returns whether it got that far."""
    process = os.fork()
    if process == 0:
        try:
            quiet = os.open(os.devnull, os.O_WRONLY)
            os.dup2(quiet, 1)
            os.dup2(quiet, 2)
            ptrace(TRACEME, 0)
            os.execv(command[0], command)
        finally:
            os._exit(127)
    os.waitpid(process, 0)  # The process stops when it has become the program.
    ptrace(SETOPTIONS, process, KILL_WITH_TRACER | SYSCALLS_ARE_MARKED)
    stops, send = 0, 0
    while True:
        ptrace(SYSCALL, process, send)
        _, status = os.waitpid(process, 0)
        if not os.WIFSTOPPED(status):
            assert os.waitstatus_to_exitcode(status) == 0, f"{command} ended with {status}"
            return False
        by = os.WSTOPSIG(status)
        marked = by == signal.SIGTRAP | 0x80
        send = 0 if marked or by == signal.SIGTRAP else by
        stops += marked
        if stops == 2 * call + 1:  # The process stops twice for each call, at its beginning and at its end.
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return True


def record(folder: Path) -> dict:
    """Returns run.json of a result."""
    return json.loads((folder / "run.json").read_text())


def names(folder: Path) -> tuple:
    """Returns the state of the folder: names without process numbers, whether each record was accepted, and sizes."""
    found = []
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if "dupsift-old-" in name:
            name = name.split("dupsift-old-")[0] + "old/" + "/".join(Path(name).parts[1:])
        told = path.name == "run.json" and "accepted" in json.loads(path.read_text())
        size = path.stat().st_size if path.is_file() and path.name != "run.json" else 0
        found.append((name, told, size))
    return tuple(found)


def look(folder: Path, rows: dict[str, int]) -> None:
    """Fails unless there is a complete result: the earlier one, under its name or moved aside, or the new one."""
    out, held = folder / "out", folder / "out.held"
    if out.exists():
        assert (out / "_SUCCESS").is_file(), "the output is not complete"
        told = record(out)
        if told["documents"]["rows"] == rows["new"]:
            assert told["accepted"]["output"] == "out" and not held.exists(), "the new result without its reason"
            return
        assert told["documents"]["rows"] == rows["old"]
    else:
        (aside,) = [path for path in folder.iterdir() if path.name.startswith(".out.dupsift-old-")]
        assert (aside / "_SUCCESS").is_file() and record(aside)["documents"]["rows"] == rows["old"]
    marks = [(held / mark).is_file() for mark in ("_HELD", "_SUCCESS")]
    assert sorted(marks) == [False, True] and record(held)["documents"]["rows"] == rows["new"]
    assert marks[0] or record(held)["accepted"]["output"] == "out", "a held result lost its mark and has no reason"


def main() -> None:
    program, made = sys.argv[1], Path(sys.argv[2])
    rows = {"old": record(made / "out")["documents"]["rows"], "new": record(made / "out.held")["documents"]["rows"]}
    assert rows["old"] != rows["new"]
    call, seen = 0, set()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "night"
        while True:
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(made, folder)
            command = [program, "accept", str(folder / "out.held"), "--reason", "looked at"]
            died = dies_at(call, command)
            look(folder, rows)
            state = names(folder)
            if state not in seen:
                seen.add(state)
                done = record(folder / "out")["documents"]["rows"] == rows["new"] if (folder / "out").exists() else False
                again = subprocess.run(command, capture_output=True, text=True)
                # If the result already has its final name, the command says so.
                assert again.returncode == 0 and ("already accepted" in again.stderr) == done, again.stderr
                look(folder, rows)
                assert record(folder / "out")["documents"]["rows"] == rows["new"]
                left = {path.name for path in folder.iterdir() if not path.name.startswith(".out.dupsift-old-")}
                assert left == {"out"}, left
            if not died:
                break
            call += 1
    print(f"{call} calls, {len(seen)} states")


if __name__ == "__main__":
    main()
