#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Programs of events go over to another one, which schedules the callback that unwinds the stack. Where it is not there, the
recorder finishes the stack. Runs in a mount namespace with an engine of its own: no rule and no table is known before."""

from harness.cases import main, needs, needs_command, run, stackmap
from harness.engine_folder import engine_state, enter_own_mounts, forget_tables, fresh_bpffs
from harness.instance import path_of
from harness.known_stack import ENTER_READ, Target, check_whole, events_of
from harness.recording import Recording, user_account


def forget_who_orders(name):
    needs_command("bpftool", "version")
    run("bpftool", "map", "delete", "pinned", path_of(name, "pins/map_callbacks_raw_tp"), "key", "0", "0", "0", "0")


def recorded_wait(prepare):
    """Of a process that waits: its one event, from an instance, and how many unwinds there were in the kernel."""
    needs("BPF task work", "tracefs")
    fresh_bpffs()
    target = Target("wait")
    stackmap("start", "x", "--flight", "2M", "-e", ENTER_READ, "-p", target.pid)
    try:
        forget_tables()
        prepare("x")
        before = engine_state()["unwinder_next"]
        target.go_on()
        target.wait_for_next_read()
        target.end()
        stackmap("record", "-o", "f.data", "--instance", "x")
        unwinds = engine_state()["unwinder_next"] - before
    finally:
        stackmap("stop", "x")
    recording = Recording("f.data")
    recording.check()
    return recording, unwinds


def check_wait(recording):
    assert [event.name for event in events_of(recording)] == [ENTER_READ], events_of(recording)
    check_whole(events_of(recording)[0], "wait_for_end")
    assert not user_account(recording)[1]


def test_ordered():
    recording, unwinds = recorded_wait(lambda name: None)
    check_wait(recording)
    assert unwinds == 1, unwinds


def test_nobody_orders():
    recording, unwinds = recorded_wait(forget_who_orders)
    check_wait(recording)
    assert unwinds == 0, unwinds


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
