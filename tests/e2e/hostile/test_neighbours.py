#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An ordinary user runs code in files that do not answer, or take for ever to be read, while root records the machine. No
event is lost because of them, root's names are complete, and the recording ends soon."""

import contextlib
import glob
import json
import os
import re
import signal
import subprocess
import time

from harness import cases, neighbours
from harness.cases import Skip, one_of_several, stackmap
from harness.neighbours import FLOODS, USER
from harness.recording import Recording, check_ledger, one_with_names
from harness.sandbox import needs_root, recording, sandbox_of, stop_idle_sandbox, symbolizer_of, wait_for

END_SECONDS = 10  # 2 on a machine that does nothing else: bench/neighbours
SWITCHES = 20000
TRIES = 3
# Of a window of one second, or from the command's end, on a machine with much else to do. Names that never come took 10 s more.
WINDOW_SECONDS_MAX = 8
START_SECONDS_MAX = 60  # a neighbour lives twice as long


@contextlib.contextmanager
def neighbour(kind):
    try:
        with neighbours.neighbour(kind, cases.PROGRAMS):
            yield
    except neighbours.NotHere as reason:
        raise Skip(str(reason)) from reason


def end_soon(recorder):
    began = time.monotonic()
    recorder.send_signal(signal.SIGINT)
    messages = recorder.communicate(timeout=cases.SECONDS_MAX)[1]
    took = time.monotonic() - began
    assert took < END_SECONDS, "%.1f s to the end: %s" % (took, messages)
    return Recording("f.data", messages)


def check_losses(ledger):
    assert ledger["produced"] > SWITCHES, ledger
    lost = sum(ledger["lost"].values())
    assert lost <= ledger["produced"] / 1000, ledger


def missing_names(made):
    """Nothing, or the names that are there in place of those of the kernel or of root's C library."""
    stacks = made.report()["stacks"]
    kernel = {name for stack in stacks for name in stack["kernel"]}
    user = {name for stack in stacks for name in stack["user"]}
    if not kernel & {"__schedule", "schedule"}:
        return sorted(kernel)[:50]
    if not any(re.fullmatch("(__libc_)?(read|write)|__GI___(read|write)", name) for name in user):
        return sorted(user)[:50]
    return []


def check_names(made):
    assert not missing_names(made), (missing_names(made), made.messages)


def record_switches(prefix=()):
    """A recording with root's names. It waits a second for them; on a machine with much to do they may come later than that. Names
    that a neighbour holds back come in none of several recordings."""
    for _ in range(TRIES):
        with recording("-a", "-e", "sched:sched_switch", prefix=prefix) as recorder:
            neighbours.switch(SWITCHES)
            made = end_soon(recorder)
        check_losses(made.check())
        if not missing_names(made):
            return made
    check_names(made)
    return made


def record_beside(what, prefix=()):
    needs_root()
    with neighbour(what):
        return record_switches(prefix)


def check_told(made, files):
    assert "%d files without names" % files in made.messages, made.messages
    assert re.search("stackmap: user %d: %d files gave no names .slow, damaged or too large., one of them /" % (USER, files),
                     made.messages), made.messages


@one_of_several
def test_no_neighbour():
    needs_root()
    made = record_switches()
    assert "gave no names" not in made.messages, made.messages


@one_of_several
def test_files_that_are_not_looked_up():
    record_beside("lookup")


@one_of_several
def test_files_that_are_not_opened():
    check_told(record_beside("open"), 1)


@one_of_several
def test_files_that_do_not_tell_what_they_are():
    check_told(record_beside("getattr"), 1)


@one_of_several
def test_files_that_are_not_read():
    check_told(record_beside("read"), 1)


@one_of_several
def test_pages_that_never_come():
    """A frame whose caller's registers are in such a page."""
    check_told(record_beside("fault"), 1)


@one_of_several
def test_a_lock_that_is_kept():
    """A frame whose caller's registers are in a page that cannot be had before another thread's wait has an end."""
    made = record_beside("lock")
    ends = {event.frames[-1].name for event in made.events() if event.comm == "neighbour"}
    assert ends and "[unanswered]" not in ends, ends


@one_of_several
def test_an_instance_starts_beside_a_lock_that_is_kept():
    """`start` looks at the code that all processes have mapped. A reader then follows the instance and ends when asked to."""
    needs_root()
    name = "neighbours-%d" % os.getpid()
    with neighbour("lock"):
        stackmap("start", name, "-e", "sched:sched_switch", timeout=START_SECONDS_MAX)
        try:
            with open("text", "w+", encoding="utf-8", errors="replace") as text:
                reader = subprocess.Popen([cases.STACKMAP, "script", "--follow", "--instance", name], stdout=text, stderr=subprocess.PIPE,
                                          text=True)
                wait_for("the reader has the instance", lambda: json.loads(stackmap("status", "--json", name).stdout)["reader"])
                neighbours.switch(SWITCHES)
                reader.send_signal(signal.SIGINT)
                messages = reader.communicate(timeout=START_SECONDS_MAX)[1]
            assert reader.returncode == 0, messages
            ledger = json.loads(stackmap("status", "--json", name).stdout)["ledger"]
        finally:
            stackmap("stop", name, status=None)
    check_losses(ledger)


@one_of_several
def test_files_end_beside_files_that_are_not_opened():
    """While names of the last file are waited for, events go on into it."""
    needs_root()
    with neighbour("open"), recording("-a", "-e", "sched:sched_switch", "--rotate", "1s", output="f.data") as recorder:
        while recorder.poll() is None and not os.path.exists("f.data.0002"):
            neighbours.switch(SWITCHES)
        recorder.send_signal(signal.SIGINT)
        messages = recorder.communicate(timeout=cases.SECONDS_MAX)[1]
    files = [Recording(path, messages) for path in sorted(glob.glob("f.data.*"))]
    for made in files:
        check_ledger(made.ledger())
    full = [made for made in files if made.ledger()["produced"] > SWITCHES]
    assert full, [made.ledger() for made in files]
    times = [event.time for event in files[0].events()]
    assert max(times) - min(times) < WINDOW_SECONDS_MAX, "the window of a second took %s" % (max(times) - min(times))
    for made in full:
        check_losses(made.ledger())
        check_names(made)


@one_of_several
def test_the_last_file_ends_beside_files_that_are_not_opened():
    """The last file ends soon after the command's end, without a signal."""
    needs_root()
    with neighbour("open"), recording("-a", "-e", "sched:sched_switch", "--rotate", "1s", "--", "sh", "-c", "sleep 2; touch ended",
                                      output="f.data") as recorder:
        wait_for("the command ends", lambda: os.path.exists("ended"))
        began = time.monotonic()
        messages = recorder.communicate(timeout=cases.SECONDS_MAX)[1]
        took = time.monotonic() - began
    assert took < WINDOW_SECONDS_MAX, "%.1f s to the end: %s" % (took, messages)
    last = Recording(max(glob.glob("f.data.*")), messages)
    check_ledger(last.ledger())
    check_names(last)


@one_of_several
def test_the_end_does_not_wait_for_files_of_root():
    """The process that parses them is stopped. The kernel's names are there, and the files are counted."""
    needs_root()

    def stopped():
        with recording("-a", "-e", "sched:sched_switch") as recorder:
            neighbours.switch(SWITCHES)
            stop_idle_sandbox(sandbox_of(recorder.pid), symbolizer_of(recorder.pid))
            return end_soon(recorder)

    def kernel_names(made):
        return {name for stack in made.report()["stacks"] for name in stack["kernel"]}
    made = one_with_names(stopped, lambda made: {"schedule", "__schedule"} & kernel_names(made))
    check_losses(made.check())
    assert {"schedule", "__schedule"} & kernel_names(made), sorted(kernel_names(made))[:20]
    assert re.search("stackmap: user 0: [0-9]+ files gave no names", made.messages), made.messages


def record_assisted_beside(what):
    """Records as on a kernel without task work, where the recorder itself reads other users' files."""
    return record_beside(what, ("env", "LD_PRELOAD=" + cases.program("librefuse_programs.so"), "REFUSE_NAME=ask_for_callbac",
                                "REFUSE_COUNT=1000"))


@one_of_several
def test_files_that_are_not_opened_for_the_recorder():
    record_assisted_beside("open")


@one_of_several
def test_files_that_are_not_read_by_the_recorder():
    record_assisted_beside("read")


@one_of_several
def test_pages_that_never_come_for_the_recorder():
    record_assisted_beside("fault")


@one_of_several
def test_files_with_notes_without_end():
    """The first notes are read, so these files are neither slow nor damaged."""
    made = record_beside("notes")
    assert "gave no names" not in made.messages, made.messages


def flood(what):
    """Files, generated code and changes in masses, each of which would be work for minutes."""
    return lambda: record_beside(what)


for kind in FLOODS:
    if kind != "notes":
        globals()["test_flood_of_" + kind] = one_of_several(flood(kind))


if __name__ == "__main__":
    cases.main(globals())
