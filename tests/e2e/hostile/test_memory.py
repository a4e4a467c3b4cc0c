#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The memory that a small file may take: every command reads recordings of some kilobytes, which would unfold into
gigabytes, only as far as their size allows."""

import os
import shutil
import subprocess

from harness.cases import STACKMAP, main, program, run

FILE_BYTES_MAX = 1 << 20
MEMORY_KIB_MAX = 256 << 10
# Kinds of write_bomb, and the counts.
BOMBS = {"stacks": 300000, "placeholders": 10000000, "frames": 30000, "events": 8000000, "leaves": 300000, "cpus": 10000,
         "files": 60000}
COMMANDS = [["report"], ["report", "--tree"], ["report", "--sort", "pid,dso,symbol"], ["diff", "small.data"],
            ["flamegraph", "-o", "page.html"], ["flamegraph", "-o", "page.html", "small.data"],
            ["merge", "-o", "merged.data", "small.data"], ["export"], ["export", "-f", "pprof", "-o", "out"],
            ["export", "-f", "speedscope"], ["export", "-f", "mappings"]]


def memory_of(*command):
    """The exit status of a command, its messages, and its peak memory in KiB."""
    with open("said", "w+b") as said:
        process = subprocess.Popen([STACKMAP, *command], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        said.seek(0)
        return process.returncode, said.read().decode(), usage.ru_maxrss


def test_small_files_cost_little():
    run(program("write_views"), 10, 10, "small.data")
    for kind, count in BOMBS.items():
        run(program("write_bomb"), kind, count, "bomb.data")
        assert os.path.getsize("bomb.data") < FILE_BYTES_MAX, kind
        for command in COMMANDS:
            status, said, memory = memory_of(*command, "bomb.data")
            assert status in (0, 1) and memory <= MEMORY_KIB_MAX, (kind, command, status, memory, said)
            reason = "memory" in said or "too many blocks" in said
            assert status == 0 or ("stackmap: bomb.data: " in said and reason), (kind, command, said)
            run("rm", "-f", "merged.data")


def test_a_folder_of_them_costs_as_little():
    """One file may take some MiB; a folder of them must not take as much for each."""
    os.mkdir("all")
    run(program("write_views"), 10, 10, "all/a.data")
    run(program("write_bomb"), "stacks", 300000, "bomb.data")
    for number in range(40):
        shutil.copy("bomb.data", "all/bomb-%d.data" % number)
    for command in ["report", "--json"], ["merge", "-o", "merged.data"]:
        status, said, memory = memory_of(*command, "all")
        assert status == 1 and memory <= MEMORY_KIB_MAX, (command, status, memory, said[-500:])
        assert "with the others it unfolds into more memory" in said, said[-500:]
        run("rm", "-f", "merged.data")


if __name__ == "__main__":
    main(globals())
