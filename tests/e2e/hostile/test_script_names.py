#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Processes that imitate an interpreter or a virtual machine: their forged frames bring no wrong name, use up nothing that others need, and
lose no event."""

import collections
import json
import re
import subprocess

from harness.cases import main, needs, never, one_of_several, program, stackmap
from harness.engine_folder import fresh_bpffs
from harness.recording import function, record, user_frames
from harness.skip import Skip

CALLS, FUNCTIONS = 200, 20000
IDS = 65535
NAME = re.compile(r"^(.*?)(?: \(imitation\.(?:py:1|java|js)\))?(?: \(inlined\))?$")
# The names of functions that each program has if nothing is forged, innermost first.
PLAIN = {
    "script_imitation": ("made_by_hand",),
    "java_imitation": ("Forged.by_hand",),
    "v8_imitation": ("inner", "by_hand"),
}
OBJECTS = re.compile(r"\[(python|(java|javascript)( compiled| inlined)?)\]")


def record_calls(path, *modes):
    """A recording of system calls in programs. An instance, begun while one of them runs, has the unwind table of its file before the first
    event."""
    needs("bpf", "BPF task work")
    fresh_bpffs()
    command = "; ".join("%s %s %d" % (path, mode, FUNCTIONS if mode == "endless" else CALLS) for mode in modes)
    with subprocess.Popen([path, "wait", "0"]) as waiting:
        try:
            stackmap("start", "tables", "-e", "syscalls:sys_enter_getppid", "-p", waiting.pid)
            return record("-e", "syscalls:sys_enter_getppid", "--", "sh", "-c", command)
        finally:
            waiting.kill()
            stackmap("stop", "tables", status=None)


def names_by_thread(*modes, imitation="script_imitation"):
    """Name of the thread -> names of the functions of scripts of each of its events. All events must be there."""
    recording = record_calls(program(imitation), *modes)
    recording.check()
    found = collections.defaultdict(list)
    for event in recording.events():
        names = [NAME.match(function(frame)) for frame in user_frames(event) if OBJECTS.match(frame.object)]
        assert all(names), event
        found[event.comm].append(tuple(name[1] for name in names))
    return found


@one_of_several
def test_forged_frames_have_no_names():
    """Frames in a circle, frames that lead nowhere, and names of 1 MiB."""
    found = names_by_thread("cycle", "forged", "long", "plain")
    for mode in "cycle", "forged", "long":
        never(any(found[mode]), (mode, collections.Counter(found[mode]).most_common(3)))
        assert found[mode] == [()] * CALLS, (mode, len(found[mode]), collections.Counter(found[mode]).most_common(3))
    assert found["plain"] == [("made_by_hand",)] * CALLS, collections.Counter(found["plain"]).most_common(3)


@one_of_several
def test_functions_without_end_leave_ids_to_others():
    """The program gets a fifth of all ids: as many as are a quarter of the rest."""
    found = names_by_thread("endless", "plain")
    named = [names[0] for names in found["endless"] if names]
    assert len(found["endless"]) == FUNCTIONS and IDS // 5 - 4 <= len(named) <= IDS // 5 + 4, len(named)
    assert named == ["made_%07d" % number for number in range(len(named))], "each call has its own function's name"
    assert found["plain"] == [("made_by_hand",)] * CALLS, collections.Counter(found["plain"]).most_common(3)


@one_of_several
def test_processes_with_equal_addresses_have_their_own_names():
    found = names_by_thread("twins")
    for twin, other in ("first", "second"), ("second", "first"):
        never(any(other in name for names in found[twin] for name in names), (twin, collections.Counter(found[twin]).most_common(3)))
        assert found[twin] == [((twin + "_twin").ljust(12, "_"),)] * CALLS, (twin, collections.Counter(found[twin]).most_common(3))


def check_machine(imitation, *modes, **named):
    """A frame that leads nowhere has no name or, if the forged words are not those that names need, the names of its process. Two processes
    with equal addresses have their own names. `named`: mode -> the names of each of its stacks."""
    if "deferred: in the kernel" not in stackmap("--version", "--verbose").stdout:
        raise Skip("this kernel has no callbacks for BPF programs (Linux 6.18)")
    found = names_by_thread(*modes, *named, "plain", "twins", imitation=imitation)
    plain = PLAIN[imitation]
    for twin in "first", "second":
        never(found[twin] != [tuple(name.replace("by_hand", twin.ljust(7, "_")) for name in plain)] * CALLS,
              (twin, collections.Counter(found[twin]).most_common(3)))
    for mode, names in {"plain": plain, **named}.items():
        assert found[mode] == [names] * CALLS, (mode, collections.Counter(found[mode]).most_common(3))
    for mode in modes:
        wrong = collections.Counter(name for names in found[mode] for name in names if name not in plain)
        never(wrong, (mode, wrong.most_common(3)))
        assert len(found[mode]) == CALLS, (mode, len(found[mode]))


@one_of_several
def test_forged_machines_of_java():
    check_machine("java_imitation", "cycle", "deep", "forged", "long", stub=("Imitated stub",))


@one_of_several
def test_forged_objects_of_v8():
    check_machine("v8_imitation", "cycle", "forged", "long")


def test_an_unknown_version_is_named_with_its_file():
    path = program("script_unknown")
    recording = record_calls(path, "plain")
    text = "CPython 3.16.0: offsets unknown (%s)" % path
    assert recording.read("report", "--no-pager", "--missing").count(text) == 1, recording.read("report", "--no-pager", "--missing")
    assert json.loads(recording.read("report", "--json", "--missing"))["unread_interpreters"] == [text]
    assert not any(frame.object == "[python]" for event in recording.events() for frame in user_frames(event))


if __name__ == "__main__":
    main(globals())
