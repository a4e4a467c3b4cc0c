#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How long tasks are blocked, where, and who ends it: against what the tasks measure themselves."""

from cases import main, needs, program, stackmap
from recording import function, kernel_frames, record, user_frames
from test_later import user_account

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
    """Each wait is there and as long as it was, as far as the task was not preempted on its way there."""
    events = events_in(recording, TIME, caller)
    waits = [event for event in events if is_blocked_in(event, blocking)]
    assert COUNT / 2 <= len(waits) <= COUNT, (caller, len(waits), events)
    assert all(function(event.frames[-1]) == "_start" for event in waits), waits[0]
    assert COUNT * MS * 500000 <= sum(event.value for event in events) <= measured


def test_where_and_how_long():
    recording, rested, awaited, _ = record_blocked("--off-cpu")
    check_blocked(recording, "rest", "nanosleep", rested)
    check_blocked(recording, "await", "pipe_read", awaited)
    assert {event.name for event in recording.events()} == {TIME}


def test_who_is_preempted_is_not_blocked():
    recording, *_, spun = record_blocked("--off-cpu")
    assert sum(event.value for event in events_in(recording, TIME, "spin")) < spun / 10


def test_wakers():
    """The thread that lets go is the one that ends the waiting in await()."""
    recording, *_ = record_blocked("--wakers")
    woken = events_in(recording, WAKER, "let_go")
    waits = [event for event in events_in(recording, TIME, "await") if is_blocked_in(event, "pipe_read")]
    assert COUNT / 2 <= len(woken) == len(waits) <= COUNT, (woken, waits)
    assert COUNT * MS * 500000 <= sum(event.value for event in woken) <= sum(event.value for event in waits)


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


if __name__ == "__main__":
    main(globals())
