# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The program known_stack, whose user stacks are known, while it runs, sleeps, or becomes another."""

import platform
import subprocess

from harness.cases import SECONDS_MAX, needs, program
from harness.recorder import Recorder, sources
from harness.recording import marker, names_of, record, user_account
from harness.waiting import readers, unread, wait_until

KNOWN = program("known_stack")
PATH_INSIDE = ["inner", "middle", "outer"]
# The event that a page fault of the kernel's own code makes. arm64 has no tracepoint for it, so there it is the event of all page faults.
FAULT = "exceptions:page_fault_kernel" if platform.machine() == "x86_64" else "page-faults"
ENTER_READ = "syscalls:sys_enter_read"
ENTER_EXECVE, EXIT_EXECVE = "syscalls:sys_enter_execve", "syscalls:sys_exit_execve"


def check_whole(event, last, caller="main"):
    """All of the known stack, and what called it."""
    names = names_of(event)
    expected = [last, *PATH_INSIDE, caller]
    assert names[:len(expected)] == expected and len(names) > len(expected) and not marker(event), event


def check_whole_or_changed(event, *names):
    if marker(event) == "changed":
        assert names_of(event) == ["[changed]"], event
    else:
        check_whole(event, *names)


class Target:
    """A process that will have the known stack, once its input goes on."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([KNOWN, "line", *map(str, arguments)], stdin=subprocess.PIPE)
        self.pid = self.process.pid
        wait_until(lambda: readers(self.pid))

    def go_on(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def wait_for_next_read(self):
        """Waits until the program sleeps in its next read()."""
        wait_until(lambda: not unread(self.process.stdin) and readers(self.pid))

    def end(self):
        self.process.communicate(timeout=SECONDS_MAX)


def sleepers(count):
    """`count` threads that sleep in read(), each with a pending stack, and the recorders that have requested the stacks."""
    target = Target("threads", count)
    recorder, = recorders_of(target, ENTER_READ, count=1)
    target.go_on()
    wait_until(lambda: not unread(target.process.stdin) and readers(target.pid) == count)
    return target, recorder


def events_of(recording):
    return [event for event in recording.events() if event.comm == "known_stack"]


def recorders_of(target, *names, count=3):
    """Each has begun when its command echoes."""
    recorders = [Recorder("-p", target.pid, "--bits", 10, *sources(*names), "--", "cat", output="%d.data" % n)
                 for n in range(count)]
    for recorder in recorders:
        recorder.say(b"begun\n")
    return recorders


def execve_events(way, *options):
    """From the call of execve to the end of that call."""
    needs("BPF task work", "tracefs")
    recording = record(*options, *sources(ENTER_EXECVE, EXIT_EXECVE, "sched:sched_process_exec", "kmem:mm_page_alloc",
                                          "kmem:kmem_cache_*", FAULT), "--", KNOWN, way, "/bin/true")
    user_account(recording)
    events = recording.events()
    begin = max(i for i, event in enumerate(events) if event.name == ENTER_EXECVE)
    end = max(i for i, event in enumerate(events) if event.name == EXIT_EXECVE)
    events = events[begin:end + 1]
    assert {"known_stack", "true"} == {event.comm for event in events}
    assert FAULT in {event.name for event in events}
    return events


def inside_execve_of_a_thread():
    """It takes over the id of the first thread, which ends meanwhile."""
    events = execve_events("thread_exec")
    caller = events[0].tid
    assert len({event.tid for event in events}) == 2
    for event in events:
        if event.tid == caller or event.comm == "true":
            check_whole_or_changed(event, "become", "thread")


def check_sleepers(recording, count):
    events = [event for event in events_of(recording) if names_of(event)[0] == "wait_for_end"]
    assert len({event.tid for event in events}) == count == len(events)
    for event in events:
        check_whole(event, "wait_for_end", "thread")
    assert not user_account(recording)[1]


def asleep_at_the_end():
    """And they sleep on: their stacks are taken from outside."""
    needs("BPF task work", "tracefs")
    target, recorder = sleepers(3)
    check_sleepers(recorder.ended(), 3)
    assert readers(target.pid) == 3
    target.end()
