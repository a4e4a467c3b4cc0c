# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Recordings that are exported, and what the report says of them."""

import functools
import json
import os
import tempfile

from harness.cases import PROGRAMS, needs, program, run, stackmap
from harness.exported import stacks_of_report
from harness.recording import record

WRITE_SMALL = os.path.join(PROGRAMS, "..", "unit", "cli", "write_small_recording")
RECORDINGS = tempfile.TemporaryDirectory(prefix="stackmap-export-")  # each is made once, for all cases


def in_folder(name):
    return os.path.join(RECORDINGS.name, name)


@functools.cache
def small():
    """Every kind of frame and of missing stack, and values; one task's name has a control character."""
    run(WRITE_SMALL, in_folder("small.data"))
    return in_folder("small.data")


@functools.cache
def real():
    needs("bpf", "raw tracepoints", "perf events")
    workload = program("known_counts")
    record("-F", 999, "-e", "cpu-clock", "-e", "syscalls:sys_enter_getppid", "-e", "sched:sched_switch", "--", "sh", "-c",
           "%s getppid=500 calls=20000000 & %s getpgid=300 faults=2000; wait" % (workload, workload),
           output=in_folder("real.data"))
    return in_folder("real.data")


@functools.cache
def inlined():
    needs("bpf", "raw tracepoints")
    record("-e", "syscalls:sys_enter_getppid", "--", program("inlined_calls"), 40, output=in_folder("inlined.data"))
    return in_folder("inlined.data")


def export(form, path, *options):
    return stackmap("export", "-f", form, *options, path).stdout


def report_of(path, *options):
    return stacks_of_report(json.loads(stackmap("report", "--json", *options, path).stdout))
