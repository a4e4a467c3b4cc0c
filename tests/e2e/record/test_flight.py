#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The flight recorder: the last events in a fixed memory, written at the end and on a signal."""

import os

from harness.cases import main, needs, program, stackmap
from harness.recording import Recording, function, record, user_frames

WORKLOAD = program("known_counts")
SOURCE = "u:%s:counted" % WORKLOAD


def flight(script, *options, size="2M", **more):
    needs("bpf", "uprobes")
    return record("--flight", size, "--bits", 10, *options, "-e", SOURCE, "--", "sh", "-c", script, **more)


def calls(count):
    return "%s calls=%d" % (WORKLOAD, count)


def test_last_events_are_kept():
    """Task after task: those that are kept are the latest, without a gap."""
    recording = flight("for i in 1 2 3 4 5 6; do taskset -c 0 %s; done" % calls(10000), size="1M")
    ledger = recording.check()
    assert ledger["produced"] == 60000 and ledger["lost"]["overwritten"] == 60000 - ledger["recorded"], ledger
    tids = [event.tid for event in recording.events()]
    runs = [tids.count(tid) for tid in dict.fromkeys(tids)]
    assert runs[1:] == [10000] * (len(runs) - 1) and len(runs) > 1, runs


def test_memory_is_what_was_asked_for():
    """Slots of 24 bytes in the given size, whatever the stack map takes: one CPU has its share of them."""
    for size in 1, 2:
        kept = flight("taskset -c 0 " + calls(60000), size="%dM" % size).check()["recorded"]
        share = (size << 20) // os.sysconf("SC_NPROCESSORS_CONF") // 24
        assert 0.9 * share < kept <= share, (size, kept, share)


def test_signal_writes_numbered_files():
    """FILE.1 has what was before the signal, FILE.2 that and more; recording goes on."""
    wait = "until [ -e f.data.%d ]; do sleep 0.01; done"
    script = "; ".join([calls(1000), "kill -USR2 $PPID", wait % 1, calls(500), "kill -USR2 $PPID", wait % 2, calls(70)])
    whole = flight(script, size="8M").check()
    assert whole["produced"] == 1570, whole
    assert whole["recorded"] + whole["lost"]["paused"] == 1570, whole
    first, second = (Recording("f.data.%d" % number) for number in (1, 2))
    assert first.check()["recorded"] == 1000
    assert second.check()["produced"] == whole["produced"] - 70, (second.ledger(), whole)
    for recording in (first, second):
        assert {function(user_frames(event)[0]) for event in recording.events()} == {"counted"}
        assert {event.comm for event in recording.events()} == {"known_counts"}


def test_signal_under_load():
    """Snapshots while events pour in: each file balances."""
    wait = "until [ -e f.data.%d ]; do sleep 0.01; done"
    shots = "; ".join("kill -USR2 $PPID; " + wait % number for number in range(1, 6))
    whole = flight("(%s) & (%s) & %s; wait" % (calls(150000), calls(150000), shots))
    for number in range(1, 6):
        ledger = Recording("f.data.%d" % number).check()
        assert ledger["recorded"] <= ledger["produced"] <= 300000, ledger
    assert whole.check()["produced"] == 300000


def test_signal_without_flight_changes_nothing():
    needs("bpf", "uprobes")
    recording = record("-e", SOURCE, "--", "sh", "-c", "kill -USR2 $PPID; " + calls(100))
    assert recording.check()["produced"] == 100 and os.listdir(".").count("f.data.1") == 0


def test_too_small():
    """A ring has 64 slots at least."""
    done = stackmap("record", "-o", "f.data", "--flight", "4K", "-e", "page-faults", "--", "true", status=None)
    needed = os.sysconf("SC_NPROCESSORS_CONF") * (64 * 24 + 256)
    assert bool(done.returncode) == (needed > 4096), done.stderr
    if done.returncode:
        assert done.stderr.count("\n") == 1 and not os.listdir("."), done.stderr


main(globals())
