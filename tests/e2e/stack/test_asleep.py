#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The reader of an instance, or its file, ends while tasks sleep in the kernel: their events get their stacks from outside,
and the tasks stay asleep for the next reader."""

import os
import signal
import subprocess
import threading

from harness import sleeping_instance
from harness.cases import SECONDS_MAX, STACKMAP, main, needs, one_of_several, stackmap
from harness.engine_folder import engine_state, enter_own_mounts, fresh_bpffs
from harness.instance import stat_of
from harness.known_stack import ENTER_READ, KNOWN, check_sleepers, check_whole, events_of
from harness.recording import Recording, names_of, parse_events, user_account
from harness.sleeping_instance import THREADS, Reader, check_waiting, fall_asleep, snapshots, start, stop
from harness.waiting import readers, unread, wait_until


def one_reads_on(target):
    """One thread is woken, and reads again."""
    target.process.stdin.write(b"\n")
    target.process.stdin.flush()
    wait_until(lambda: not unread(target.process.stdin) and readers(target.pid) == THREADS)


@one_of_several
def test_the_reader_ends():
    """And the instance goes on: they are not woken, nobody takes their place in line, and the next reader has what they do then."""
    target = start()
    reader = Reader("first.data")
    fall_asleep(target)
    check_sleepers(reader.end(), THREADS)
    assert readers(target.pid) == THREADS
    before = engine_state()
    target.end()
    assert engine_state()["unwinder_next"] - before["unwinder_next"] == THREADS, "each answers for itself as well"
    account = user_account(Reader("second.data").end())
    assert account == (0, {}), account
    stackmap("stop", "sleep")


@one_of_several
def test_the_next_reader():
    """Asks of the same entry into the kernel wait with the same cookie."""
    target = start("-e", "syscalls:sys_exit_read")
    reader = Reader("first.data")
    fall_asleep(target)
    first = reader.end()
    check_waiting([event for event in events_of(first) if event.name == ENTER_READ], THREADS)
    assert not user_account(first)[1]
    reader = Reader("second.data")
    one_reads_on(target)
    second = reader.end()
    events = events_of(second)
    assert sorted(event.name for event in events) == [ENTER_READ, "syscalls:sys_exit_read"], events
    check_waiting(events, 2)
    assert not user_account(second)[1]
    stop(target)


@one_of_several
def test_the_instance_ends():
    target = start()
    reader = Reader("f.data")
    fall_asleep(target)
    stackmap("stop", "sleep")
    messages = reader.wait()
    check_sleepers(Recording("f.data", messages), THREADS)
    assert readers(target.pid) == THREADS
    target.end()


@one_of_several
def test_its_window_ends():
    """Each window has the stacks of its own events."""
    target = start()
    reader = Reader("w", "--rotate", "1s", first="w.0001")
    fall_asleep(target)
    wait_until(lambda: os.path.exists("w.0004"))
    one_reads_on(target)
    wait_until(lambda: os.path.exists("w.0006"))
    reader.process.send_signal(signal.SIGINT)
    reader.wait()
    windows = [Recording(name, is_window=True) for name in sorted(os.listdir(".")) if name.startswith("w.")]
    assert not any(user_account(window)[1] for window in windows)
    check_waiting([event for window in windows for event in events_of(window)], THREADS + 1)
    assert len([window for window in windows if events_of(window)]) >= 2
    stop(target)


@one_of_several
def test_a_command_is_rotated():
    """The same of a recording of one's own."""
    needs("BPF task work", "tracefs")
    fresh_bpffs()
    process = subprocess.Popen([STACKMAP, "record", "-o", "w", "--rotate", "1s", "-e", ENTER_READ, "--", KNOWN, "wait"],
                               stdin=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_until(lambda: os.path.exists("w.0003") or process.poll() is not None)
    process.communicate(timeout=SECONDS_MAX)
    windows = [Recording("w.%04d" % number, is_window=True) for number in (1, 2)]
    events = [event for window in windows for event in events_of(window) if names_of(event)[0] == "wait_for_end"]
    assert len(events) == 1
    check_whole(events[0], "wait_for_end")
    assert not any(user_account(window)[1] for window in windows)


# test_namespaces runs this, too.
test_a_snapshot = sleeping_instance.a_snapshot


@one_of_several
def test_a_snapshot_of_a_flight():
    target = snapshots("--flight", "2M")
    stackmap("record", "-o", "f.data", "--instance", "sleep")
    check_sleepers(Recording("f.data"), THREADS)
    one_reads_on(target)
    events = parse_events(stackmap("script", "--no-inline", "--instance", "sleep").stdout)
    check_waiting(events, THREADS + 1)
    stop(target)


def test_a_snapshot_adds_nothing():
    """Where CPUs are sampled answers come without their innermost frame; read() is shown with it, and the map has neither. That its
    mapping was looked up is counted."""
    target = start("--flight", "2M", "-F", 99, "-e", "cpu-clock")
    fall_asleep(target)
    before = stat_of("sleep")
    for _ in range(2):
        events = parse_events(stackmap("script", "--instance", "sleep").stdout)
        check_waiting([event for event in events if event.name == ENTER_READ], THREADS)
    after = stat_of("sleep")
    assert int(after.pop("user_mapping_walks")) >= int(before.pop("user_mapping_walks")) and after == before, (before, after)
    stop(target)


def test_a_follower():
    """It shows a stack while its task sleeps on. One that shows too few is told to end, and gives its account."""
    target = start()
    with subprocess.Popen([STACKMAP, "script", "--instance", "sleep", "-f"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as follower:
        too_long = threading.Timer(SECONDS_MAX, follower.send_signal, [signal.SIGINT])
        too_long.start()
        try:
            fall_asleep(target)
            text = ""
            while text.count("\n\n") < THREADS:
                line = follower.stdout.readline()
                assert line, (text, follower.stderr.read())
                text += line
        finally:
            too_long.cancel()
            follower.send_signal(signal.SIGINT)
    assert readers(target.pid) == THREADS
    check_waiting(parse_events(text), THREADS)
    stop(target)


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
