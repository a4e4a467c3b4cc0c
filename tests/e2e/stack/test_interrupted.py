#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A function that a signal interrupts at its first instruction has its own name, and not that of the function before it,
however the stack was unwound and in every form that is made of it."""

import os
import re
import sys

from harness.cases import Skip, main, needs, program, stackmap
from harness.recording import Recording, function, kernel_frames, names_of, record, user_frames
from harness.trace_dat import Instance

CALLS = 20
FAULTS = "import mmap; open('/dev/zero', 'rb', buffering=0).readinto(mmap.mmap(-1, 1 << 20))"  # the kernel writes pages that are not there
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


def interrupted(event):
    """The kernel's frames behind an entry of a page fault."""
    frames = kernel_frames(event)
    return [frames[i + 1].address for i, frame in enumerate(frames[:-1]) if function(frame) == "asm_exc_page_fault"]


def test_kernel_code_that_faults():
    """Of the kernel's code that an exception interrupts, the frame is the pc + 1: ftrace says which pc that is."""
    needs("bpf", "tracefs")
    if not os.path.exists("/sys/kernel/tracing/events/exceptions/page_fault_kernel"):
        raise Skip("this kernel has no tracepoint where its own code faults")
    with Instance() as instance:
        if not os.path.exists(os.path.join(instance.path, "options/fields")):
            raise Skip("this kernel's ftrace does not print fields as numbers")
        instance.write("options/fields", "1")
        instance.write("options/stacktrace", "1")
        instance.write("options/event-fork", "1")  # only of this process and its children: others may fill the ring
        instance.write("set_event_pid", str(os.getpid()))
        instance.write("events/exceptions/page_fault_kernel/enable", "1")
        recording = record("-e", "exceptions:page_fault_kernel", "--", sys.executable, "-c", FAULTS)
        instance.write("tracing_on", "0")
        text = instance.read("trace")
        stackmap("import", "--ftrace", instance.path, "-o", "imported.data")
    pcs = {int(number) & (1 << 64) - 1 for number in re.findall(r"page_fault_kernel: .* ip=\S+ \((-?\d+)\)", text)}
    for made in recording, Recording("imported.data", ""):
        found = {address for event in made.events() for address in interrupted(event)}
        assert found and all(address - 1 in pcs for address in found), (sorted(map(hex, found)), sorted(map(hex, pcs)))


main(globals())
