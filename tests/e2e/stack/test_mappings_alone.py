#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The checks of test_mappings that other tests would disturb: the test sets the next process id, so no other process may
start; and another thread changes the mappings, which is seldom stopped in the middle."""

import collections
import os

from harness.cases import Skip, main, needs, needs_command, program
from harness.recording import record
from harness.swapped_code import TOLD_MIN, is_probe, swap


def test_mapped_over_beside_other_changes():
    list(swap("threads", told_min=TOLD_MIN))


def can_choose_pid():
    return os.geteuid() == 0 and os.access("/proc/sys/kernel/ns_last_pid", os.W_OK)


def test_process_id_used_again():
    if not can_choose_pid():
        raise Skip("the next process id cannot be chosen here")
    for recording in swap("fork", 200):
        ids = collections.Counter(event.tid for event in recording.events() if is_probe(event))
        assert max(ids.values()) > 100, "the process id was another one each time: %s" % ids


def test_generated_code_of_a_process_id_used_again():
    """The same address, the same process id, and yet two places."""
    needs("bpf", "uprobes")
    needs_command("setarch", "-R", "true")
    if not can_choose_pid():
        raise Skip("the next process id cannot be chosen here")
    code = program("machine_code")
    script = "i=0; while [ $i -lt 2 ]; do echo %d >/proc/sys/kernel/ns_last_pid; setarch -R %s jit 1; i=$((i + 1)); done"
    recording = record("-e", "u:%s:leaf" % code, "--", "sh", "-c", script % (free_pid() - 1, code))
    recording.check()
    lines = recording.ids()
    if len({line.tid for line in lines}) != 1:
        raise Skip("somebody else took the process id")
    assert len(lines) == 2 and len({line.user for line in lines}) == 2, lines


def free_pid():
    return next(pid for pid in range(20000, 30000) if not os.path.exists("/proc/%d" % pid))


if __name__ == "__main__":
    main(globals())
