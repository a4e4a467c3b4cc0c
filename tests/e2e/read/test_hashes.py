#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`script --hashes`: a stack has the same hash at all load addresses and in all recordings."""

import os
import re
import shutil

from harness.cases import main, needs, program, run, stackmap
from harness.recording import Recording, record

LINE = re.compile(r"^.{1,15}-\d+ \[\d{3,}\] \d+\.\d{6}: [^<]*: <stack ([0-9a-f]{32})>$")
GETPPID = ["-e", "syscalls:sys_enter_getppid"]


def hashes_of(recording):
    lines = [LINE.match(line) for line in recording.read("script", "--hashes").splitlines()]
    assert lines and all(lines), recording.read("script", "--hashes")
    return [line[1] for line in lines]


def call_paths():
    needs("bpf", "uprobes")
    workload = program("call_paths")
    return record("-e", "u:%s:leaf" % workload, "--", workload, 200, 3)


def test_hashes_tell_stacks_apart():
    """As ids do: of this function's events no two sides are of one stack and differ."""
    made = call_paths()
    pairs = {((line.kernel, line.user), found) for line, found in zip(made.ids(), hashes_of(made), strict=True)}
    assert len(pairs) >= 200
    assert len({ids for ids, _ in pairs}) == len({found for _, found in pairs}) == len(pairs)


def test_one_hash_in_all_recordings():
    assert set(hashes_of(call_paths())) == set(hashes_of(call_paths()))


def calls_of(path):
    made = record(*GETPPID, "--", path, "getppid=50", output=os.path.basename(path) + ".data")
    found = set(hashes_of(made))
    assert len(found) == 1, found
    return made, found


def test_one_hash_wherever_the_program_lies():
    """In the merged recording, too, where the program's code is in one place."""
    needs("bpf", "raw tracepoints")
    shutil.copy(program("known_counts"), "moved")
    there, there_found = calls_of(program("known_counts"))
    here, here_found = calls_of("./moved")
    assert there_found == here_found
    stackmap("merge", "-o", "merged.data", there.path, here.path)
    assert hashes_of(Recording("merged.data")) == [*there_found] * 100


def test_another_program_has_another_hash():
    needs("bpf", "raw tracepoints")
    shutil.copy(program("known_counts"), "other")
    run("objcopy", "--remove-section", ".note.gnu.build-id", "other")
    assert calls_of(program("known_counts"))[1] != calls_of("./other")[1]


main(globals())
