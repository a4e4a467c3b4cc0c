# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The time that BPF programs of a process take, as the kernel counts it."""
import contextlib
import os

import measure

STATISTICS = "/proc/sys/kernel/bpf_stats_enabled"
PERF_EVENT = "7"  # BPF_PROG_TYPE_PERF_EVENT


@contextlib.contextmanager
def counted_times():
    try:
        with open(STATISTICS, "r+") as file:
            before = file.read()
            file.seek(0)
            file.write("1\n")
    except OSError as error:
        measure.skip(f"{STATISTICS}: {error.strerror}")
    try:
        yield
    finally:
        with open(STATISTICS, "w") as file:
            file.write(before)


def busiest(pid, kind):
    """ns and runs so far of the program of a kind that has taken most; None: it is not there (any more)."""
    found = (0, 0)
    with contextlib.suppress(FileNotFoundError):
        for name in os.listdir(f"/proc/{pid}/fdinfo"):
            with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/fdinfo/{name}") as lines:
                fields = dict(line.split(":\t", 1) for line in lines.read().splitlines() if ":\t" in line)
                if fields.get("prog_type") == kind:
                    found = max(found, (int(fields["run_time_ns"]), int(fields["run_cnt"])))
    return found if found[1] else None
