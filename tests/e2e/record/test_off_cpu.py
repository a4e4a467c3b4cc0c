#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The length, the place and the waker of waits, compared with the tasks' own measurements."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

from harness import blocked
from harness.blocked import COUNT, TIME, WAKER, check_blocked, events_in, is_blocked_in, record_blocked
from harness.cases import SECONDS_MAX, STACKMAP, Skip, main, needs, needs_command, never, one_of_several, program, run, stackmap
from harness.recorder import Recorder
from harness.recording import Recording, function, kernel_frames, record, user_account, user_frames
from harness.waiting import wait_until

INTERRUPT = ("interrupt", 0)  # name and number of no task


# test_namespaces runs this, too.
test_where_and_how_long = blocked.where_and_how_long


@one_of_several
def test_who_is_preempted_is_not_blocked():
    recording, *_, spun = record_blocked("--off-cpu")
    assert sum(event.value for event in events_in(recording, TIME, "spin")) < spun / 10


# test_namespaces runs this, too.
test_wakers = blocked.wakers


@contextlib.contextmanager
def busy_cpus():
    """Each CPU has a task in user mode, which interrupts meet."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for each in busy:
            each.kill()
            each.wait()


@one_of_several
def test_an_interrupt_that_wakes():
    """A timer ends the waiting in rest(): whomever the interrupt met has nothing to do with it."""
    with busy_cpus():
        recording, *_ = record_blocked("--wakers")
    timers = [event for event in recording.events() if event.name == WAKER and is_blocked_in(event, "hrtimer_wakeup")]
    assert len(timers) >= COUNT / 2, recording.events()
    for event in timers:
        never((event.comm, event.tid) != INTERRUPT or user_frames(event), event)
        assert function(event.frames[-1]).startswith(("sysvec_", "fred_sysvec_", "common_interrupt")), event
    assert user_account(recording)[1].get("interrupt", 0) >= len(timers), recording.ledger()


LOCAL_SOCKET = """
import os, socket, threading, time
ends = [socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2)]
ends[0].bind(("127.0.0.1", 0))
reader = "/proc/self/task/%%d/stat" %% threading.get_native_id()
def is_asleep():
    return open(reader).read().rsplit(")", 1)[1].split()[0] == "S"
def send():
    for _ in range(%d):
        time.sleep(0.005)
        while not is_asleep():
            time.sleep(0.001)
        ends[1].sendto(b"x", ends[0].getsockname())
sender = threading.Thread(target=send)
sender.start()
for _ in range(%d):
    ends[0].recv(1)
sender.join()
"""


@one_of_several
def test_a_task_that_wakes_through_a_soft_interrupt():
    """Who sends to a local socket runs the soft interrupt that wakes its reader: that is no interrupt. One that comes
    just before may run it in its stead, and a kernel thread does when there is too much of them, which others decide."""
    needs("bpf", "raw tracepoints")
    recording = record("--wakers", "--", sys.executable, "-c", LOCAL_SOCKET % (COUNT, COUNT))
    woken = [event for event in recording.events() if event.name == WAKER and is_blocked_in(event, "udp")]
    sent = [event for event in woken if is_blocked_in(event, "sendto")]
    assert len(woken) >= COUNT / 2, [len(woken), recording.ledger()]
    assert len(sent) >= len(woken) / 2, [(event.comm, kernel_frames(event)) for event in woken if event not in sent]
    untold = [event for event in sent if (event.comm, event.tid) == INTERRUPT or not user_frames(event)]
    never(untold, [(event.comm, event.frames) for event in untold])
    assert any("soft" in function(frame) for event in woken for frame in event.frames), woken[0].frames


def is_asleep(name):
    """A task of that name, which is nobody else's, sleeps."""
    for tid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/stat" % tid, encoding="ascii", errors="replace") as file:
                comm, state = file.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        if comm == name:
            return state.split()[0] == "S"
    return False


def record_wait(*prefix):
    """A command that sleeps until the recording ends: its name, how long it slept at least, the recording, the messages."""
    name = "waits-%d" % os.getpid()
    shutil.copy(shutil.which("sleep"), name)
    with subprocess.Popen([*prefix, STACKMAP, "record", "-o", "f.data", "--off-cpu", "--", "./" + name, "1000"],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as recorder:
        wait_until(lambda: is_asleep(name) or recorder.poll() is not None)
        asleep = time.monotonic()
        time.sleep(0.3)
        least = time.monotonic() - asleep
        recorder.send_signal(signal.SIGINT)
        messages = recorder.communicate(timeout=SECONDS_MAX)[1]
    if recorder.returncode == 77:
        raise Skip(messages.strip())
    recording = Recording("f.data")
    recording.check()
    return name, least, recording, messages


def test_a_wait_that_has_not_ended():
    """A wait that goes on when the recording ends has its length so far."""
    needs("bpf", "raw tracepoints", "task iterators")
    name, least, recording, messages = record_wait()
    waits = [event for event in recording.events() if is_blocked_in(event, "nanosleep") and event.comm == name]
    assert len(waits) == 1 and least * 1e9 <= waits[0].value < 60e9, (recording.events(), messages)
    assert user_frames(waits[0])[-1].object.endswith(name) and user_account(recording)[0] == recording.ledger()["recorded"], waits
    assert "1 waits that went on when recording ended: their time so far" in messages, messages


def test_waits_that_cannot_be_asked_for():
    """A kernel that refuses task iterators: the wait has no event, and recorder and report say so."""
    needs("bpf", "raw tracepoints")
    name, _, recording, messages = record_wait(program("refuse_feature"), "task-iterators")
    assert not [event for event in recording.events() if event.comm == name and is_blocked_in(event, "nanosleep")], messages
    line = "1 waits that went on when recording ended have no event: the kernel refuses task iterators"
    assert "stackmap: ledger: %s\n" % line in messages, messages
    assert "# ledger:   %s\n" % line in stackmap("report", "--no-pager", "f.data").stdout


@one_of_several
def test_beside_samples():
    """Leaf and value are both in the event, each of its own source."""
    needs("perf events")
    recording, rested, *_ = record_blocked("--off-cpu", "-F", "999")
    check_blocked(recording, "rest", "nanosleep", rested)
    samples = [event for event in recording.events() if event.name != TIME]
    assert samples and not any(event.value for event in samples), samples


def test_ways_to_take_user_stacks():
    for way in "fp", "none":
        recording, *_ = record_blocked("--off-cpu", "--user-unwind", way)
        waits = [event for event in recording.events() if is_blocked_in(event, "nanosleep")]
        assert len(waits) >= COUNT, (way, len(waits), recording.ledger())
        assert any(user_frames(event) for event in waits) == (way == "fp"), waits[0]


def test_every_event_has_its_stack():
    needs("bpf", "raw tracepoints")
    recording = record("--wakers", "--", "sh", "-c", "ls -lR /etc | sort | tail -1; (sleep 0.01; echo) | cat")
    complete, rest = user_account(recording)
    assert complete and not {"answer_lost", "unanswered", "no_state"} & set(rest), (complete, rest)


def test_waker_alone_is_refused():
    done = stackmap("record", "-a", "-e", WAKER, "--", "true", status=None)
    assert done.returncode and "offcpu-time" in done.stderr, done.stderr


def map_of(pid, name):
    """The number of a map that the process has, and the bytes of its values."""
    numbers = set()
    for fd in os.listdir("/proc/%d/fdinfo" % pid):
        with contextlib.suppress(OSError), open("/proc/%d/fdinfo/%s" % (pid, fd), encoding="ascii") as file:
            numbers |= {int(line.split()[1]) for line in file if line.startswith("map_id:")}
    shown = [json.loads(run("bpftool", "-j", "map", "show", "id", number).stdout) for number in sorted(numbers)]
    return next((each["id"], each["bytes_value"]) for each in shown if each.get("name") == name)


@contextlib.contextmanager
def spinner():
    """A process that never waits. The loop beside it on one CPU preempts it."""
    cpu = {min(os.sched_getaffinity(0))}
    children = [subprocess.Popen([sys.executable, "-c", "while True: pass"], preexec_fn=lambda: os.sched_setaffinity(0, cpu))
                for _ in range(2)]
    try:
        yield children[0]
    finally:
        for child in children:
            child.kill()
            child.wait()


def preempted(pid):
    with open("/proc/%d/status" % pid, encoding="ascii") as file:
        return int(next(line.split()[1] for line in file if line.startswith("nonvoluntary")))


def test_a_wait_whose_end_was_not_seen():
    """Kernels keep programs away from some switches. Here the test itself puts a wait into the recorder's map, of a thread that runs: as
    if the recorder had seen the thread leave its CPU, and not come back."""
    needs("typed tracepoints")
    needs_command("bpftool", "version")
    with spinner() as child:
        wait_until(lambda: preempted(child.pid) > 10)
        recorder = Recorder("-a", "--off-cpu", "--user-unwind", "none", "--", "cat")
        recorder.say(b"begun\n")
        number, size = map_of(recorder.process.pid, "blocked")
        since = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        value = since.to_bytes(8, sys.byteorder) + bytes(size - 8)
        run("bpftool", "map", "update", "id", number, "key", *child.pid.to_bytes(4, sys.byteorder), "value", *value)
        seen = preempted(child.pid)
        wait_until(lambda: preempted(child.pid) > seen + 2)
        recording = recorder.end()
    waits = [event for event in recording.events() if event.name == TIME and event.tid == child.pid]
    assert len(waits) == 1 and [frame.name for frame in waits[0].frames] == ["[changed]"], waits
    assert abs(float(waits[0].time) - waits[0].value / 1e9 - since / 1e9) < 1e-5, (waits, since)
    assert " switches that the kernel kept from programs" in recording.read("report"), recording.read("report")


if __name__ == "__main__":
    main(globals())
