#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A function that a signal interrupts at its first instruction has its own name, and not that of the function before it,
however the stack was unwound and in every form that is made of it."""

import os

from harness.cases import main, needs, program, stackmap
from harness.recording import names_of, record, user_frames

CALLS = 20
PATH = ["stores_at_once", "calls_it", "main"]
EVENT = "syscalls:sys_enter_getpriority"


def recorded(*options, output="f.data", **environment):
    needs("bpf", "tracefs")
    return record(*options, "-e", EVENT, "--", program("interrupted"), CALLS, output=output, env={**os.environ, **environment})


def check(recording):
    """Of each event: the handler, the trampoline, what was interrupted."""
    events = [event for event in recording.events() if event.comm == "interrupted"]
    assert len(events) == CALLS, len(events)
    for event in events:
        names = names_of(event)
        at = names.index("on_fault") + 2
        assert names[at:at + len(PATH)] == PATH, names
        assert any("+0x1" in frame.name for frame in user_frames(event) if frame.name.startswith("stores_at_once")), event


def test_recorded():
    check(recorded())


def test_user_space_unwinding():
    """The kernel without task work leaves all stacks that the event's walk does not finish."""
    check(recorded(LD_PRELOAD=program("librefuse_programs.so"), REFUSE_NAME="ask_for_callbac",
                   REFUSE_COUNT="1000"))


def test_frame_pointers_have_no_other_name():
    """That walk goes from the handler to the frame that the interrupted function's caller has built."""
    for event in recorded("--user-unwind", "fp").events():
        assert "ends_before" not in names_of(event), event


def test_reports_and_exports():
    recording = recorded()
    stackmap("merge", "-o", "merged.data", recording.path)
    for path in (recording.path, "merged.data"):
        for command in (("report",), *(("export", "-f", form) for form in ("folded", "json", "speedscope", "perf-script", "chrome"))):
            text = stackmap(*command, path).stdout
            assert "stores_at_once" in text and "ends_before" not in text, (path, command)


main(globals())
