#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""User stacks that come after their events: each event gets its own, or the reason why not, and the ledger knows."""

import contextlib
import os
import re
import shutil
import signal
import time

from harness.cases import SECONDS_MAX, main, needs, one_of_several, program
from harness.recorder import Recorder
from harness.recording import Recording, function, record, user_account, user_frames
from harness.waiting import wait_until, wait_until_reading

READ = "syscalls:sys_enter_read"
COMMAND = "cat-%d" % os.getpid()
TRIES = 10


def own_cat():
    """The program has a unique name, and the stack of its first read() was never unwound before: most events cannot have
    their stack. A shell starts it, because a command's own files have tables before it runs. It is another file each time."""
    with contextlib.suppress(FileNotFoundError):
        os.remove(COMMAND)
    shutil.copy(shutil.which("cat"), COMMAND)
    return "sh", "-c", "exec ./" + COMMAND


@one_of_several
def test_all_events_of_a_command():
    """Programs of the distribution: nothing is owed, and nearly nothing is incomplete."""
    needs("bpf", "raw tracepoints")
    recording = record("-e", "syscalls:sys_enter_*", "--", "sh", "-c", "ls -lR /etc >/dev/null 2>&1; id")
    complete, rest = user_account(recording)
    assert complete > 1000 and not rest.get("unanswered") and not rest.get("answer_lost"), (complete, rest)
    assert sum(rest.values()) < complete / 100, (complete, rest)


@one_of_several
def test_asleep_at_the_end():
    """The command is in read() still when recording ends: it is unwound from outside."""
    recorder = Recorder("-e", READ, "--", *own_cat())
    wait_until_reading(COMMAND)
    recording = recorder.end()
    complete, rest = user_account(recording)
    last = [event for event in recording.events() if event.comm == COMMAND][-1]
    assert function(user_frames(last)[0]) == "read" and len(user_frames(last)) > 2, last
    assert not rest and complete, rest


def test_asleep_at_the_end_of_a_flight():
    recorder = Recorder("--flight", "4M", "-e", READ, "--", *own_cat())
    wait_until_reading(COMMAND)
    recording = recorder.end()
    complete, rest = user_account(recording)
    assert not rest and complete, rest


def test_a_flight_snapshot_of_one_who_waits():
    """The snapshot owes the stack of a task that is in read() still; the file at the end has it."""
    recorder = Recorder("--flight", "4M", "-e", READ, "--", *own_cat())
    wait_until_reading(COMMAND)
    recorder.process.send_signal(signal.SIGUSR2)
    while not os.path.exists("f.data.1"):
        time.sleep(0.01)
    recorder.say(b"two\n")
    whole = recorder.end()
    assert user_account(Recording("f.data.1"))[1] in ({}, {"unanswered": 1})
    assert not user_account(whole)[1]


def test_killed_while_it_waits():
    """SIGKILL ends the command in read(): it is served before its memory goes."""
    recorder = Recorder("-e", READ, "--", *own_cat())
    os.kill(wait_until_reading(COMMAND), signal.SIGKILL)
    recorder.process.communicate(timeout=SECONDS_MAX)
    complete, rest = user_account(Recording("f.data"))
    assert complete and not rest, rest


def is_in_file(text):
    """The event of the read() that waits: without its stack as yet, or with it, if the tables came sooner."""
    return "[unanswered]" in text or re.search(r"^%s .*\n(\t.*\n)*\t +[0-9a-f]+ read\+" % COMMAND, text, re.MULTILINE)


def read_while_it_grows():
    """The text of the recording while the command waits, and at the end."""
    recorder = Recorder("-e", READ, "--", *own_cat())
    wait_until_reading(COMMAND)
    growing = Recording("f.data")
    wait_until(lambda: is_in_file(growing.read("script", status=None)))
    text = growing.read("script", status=None)
    return text, recorder.end().script


def test_the_file_is_read_while_it_grows():
    """What is owed yet reads as such."""
    needs("BPF task work")
    for _ in range(TRIES):
        text, whole = read_while_it_grows()
        assert "[unanswered]" not in whole
        if "[unanswered]" in text:
            return
    raise AssertionError("the event had its stack in each of %d recordings" % TRIES)


@one_of_several
def test_samples_and_tracepoints_in_one_recording():
    """A stack is wanted behind a leaf by the one, and in full by the other: both show all of it."""
    needs("bpf", "raw tracepoints", "perf events")
    recording = record("-F", 4999, "-e", "cpu-clock", "-e", "syscalls:sys_enter_*", "--", "sh", "-c",
                       "for i in 1 2 3 4 5 6 7 8; do ls -lR /etc; done >/dev/null 2>&1")
    complete, rest = user_account(recording)
    assert complete > 1000 and sum(rest.values()) < complete / 50, (complete, rest)
    events = recording.events()
    for name in {event.name for event in events}:
        stacks = [user_frames(event) for event in events if event.name == name and user_frames(event)]
        doubled = [stack for stack in stacks if len(stack) > 1 and stack[0] == stack[1]]
        assert stacks and len(doubled) < len(stacks) / 10, (name, doubled[:1])


def test_no_deeper_than_asked():
    needs("bpf", "uprobes")
    workload = program("call_paths")
    recording = record("--max-depth", 5, "-e", "u:%s:leaf" % workload, "--", workload, 10, 1)
    ends = {(len(user_frames(event)), function(event.frames[-1])) for event in recording.events()}
    assert ends == {(5 + 1, "[truncated]")}, ends
    assert user_account(recording) == (0, {"depth": 10})


def test_none():
    needs("bpf", "raw tracepoints")
    recording = record("--user-unwind", "none", "-e", READ, "--", "true")
    complete, rest = user_account(recording)
    assert not complete and set(rest) == {"not_asked"}, rest


if __name__ == "__main__":
    main(globals())
