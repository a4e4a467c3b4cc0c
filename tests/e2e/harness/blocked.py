# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The program `blocked`, which measures its own waits."""

from harness.cases import needs, one_of_several, program
from harness.recording import function, kernel_frames, record, user_frames

COUNT, MS = 20, 5
TIME, WAKER = "offcpu-time", "offcpu-waker"


def record_blocked(*options):
    """The recording, and how many ns rest(), await() and spin() took."""
    needs("bpf", "raw tracepoints")
    recording = record(*options, "--", program("blocked"), COUNT, MS, "measured")
    recording.check()
    with open("measured", encoding="ascii") as file:
        return recording, *map(int, file.read().split())


def events_in(recording, name, caller):
    """The events of that name below a function of the program."""
    return [event for event in recording.events()
            if event.name == name and caller in [function(frame) for frame in user_frames(event)]]


def is_blocked_in(event, blocking):
    return blocking in " ".join(map(function, kernel_frames(event)))


def check_blocked(recording, caller, blocking, measured):
    """Each wait is recorded with its right length, except if the task was preempted on its way into the wait."""
    events = events_in(recording, TIME, caller)
    waits = [event for event in events if is_blocked_in(event, blocking)]
    assert COUNT / 2 <= len(waits) <= COUNT, (caller, len(waits), events)
    assert all(function(event.frames[-1]) == "_start" for event in waits), waits[0]
    assert COUNT * MS * 500000 <= sum(event.value for event in events) <= measured


@one_of_several
def where_and_how_long():
    recording, rested, awaited, _ = record_blocked("--off-cpu")
    check_blocked(recording, "rest", "nanosleep", rested)
    check_blocked(recording, "await", "pipe_read", awaited)
    assert {event.name for event in recording.events()} == {TIME}


@one_of_several
def wakers():
    """The thread that lets go is the one that ends the waiting in await()."""
    recording, *_ = record_blocked("--wakers")
    woken = events_in(recording, WAKER, "let_go")
    waits = [event for event in events_in(recording, TIME, "await") if is_blocked_in(event, "pipe_read")]
    assert COUNT / 2 <= len(woken) <= COUNT and COUNT / 2 <= len(waits) <= COUNT, (len(woken), len(waits), woken, waits)
    assert abs(len(woken) - len(waits)) <= COUNT / 4, (len(woken), len(waits), woken, waits)  # some may be preempted on their way to sleep
    assert COUNT * MS * 500000 <= sum(event.value for event in woken) <= sum(event.value for event in waits)
    assert {event.other for event in woken} == {"woke %s %d" % (waits[0].comm, waits[0].tid)}, woken
    assert {event.other for event in waits} == {"woken by %s %d" % (woken[0].comm, woken[0].tid)}, waits
