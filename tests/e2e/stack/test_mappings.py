#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Frames name what was mapped when the event came, while code is replaced by other code at the same address.

Each stack of the workloads says by frames that cannot be mistaken what the others must be; not one may be wrong."""

from harness.cases import main, needs, program
from harness.recording import record
from harness.swapped_code import CALLED, PROBED, TURNS, builds, check, swap


def test_dlopen():
    list(swap("dlopen"))


def test_mapped_over():
    list(swap("mmap"))


def test_unmapped_and_mapped():
    list(swap("munmap"))


def test_moved():
    list(swap("mremap"))


def test_exec():
    """One process that becomes another program, at the same addresses, again and again."""
    needs("bpf", "uprobes", "perf events", "raw tracepoints", "tracefs")
    rounds = 300
    for build, options in builds():
        targets = [program("exec_%s_%s" % (turn, build)) for turn in TURNS]
        probes = [word for target in targets for word in ("-e", "u:%s:%s" % (target, PROBED))]
        recording = record("-F", 4999, "-e", "cpu-clock", "-e", CALLED, *probes, *options, "--", targets[0], rounds, targets[1])
        check(recording, rounds, [PROBED, "through_%(turn)s", "main"])
        assert len({event.tid for event in recording.events()}) == 1


if __name__ == "__main__":
    main(globals())
