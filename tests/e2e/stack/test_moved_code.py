#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Code that a program has moved to anonymous memory at the same addresses has names and whole stacks, if it is the file's."""

import os
import re
import shutil
import subprocess

from harness.cases import Skip, main, needs, never, one_of_several, program
from harness.machine_code import UNTIL_IT_RAN
from harness.recording import names_of, record, second_half, user_account, user_frames

PATH = ["leaf_work", "middle_work", "outer_work", "main"]
NAMED_MIN = 100  # of the second half of some 750 samples


def check_named(recording):
    """Samples have no names until the code has been compared. In the second half all have, and the whole path."""
    later = second_half([names_of(event) for event in recording.events() if event.comm == "moved_code"])
    named = [names for names in later if "leaf_work" in names]
    nameless = [names for names in later if any(name.startswith("0x") for name in names)]
    wrong = [names for names in named if names[names.index("leaf_work"):][:4] != PATH]
    never(wrong, wrong[:3])
    assert len(named) > NAMED_MIN and not nameless, (len(named), len(later), nameless[:3])
    complete, rest = user_account(recording)
    assert complete >= len(named) and sum(rest.values()) <= complete, (complete, rest)


@one_of_several
def test_moved_while_recording():
    needs("bpf", "perf events")
    for what in ("copy", "remap"):
        check_named(record("-F", 499, "--", program("moved_code"), what))


@one_of_several
def test_moved_before():
    needs("bpf", "perf events")
    with subprocess.Popen([program("moved_code"), "stay"], stdout=subprocess.PIPE) as moved:
        moved.stdout.readline()
        try:
            check_named(record("-F", 499, "-p", moved.pid, "--", "sh", "-c", UNTIL_IT_RAN, "sh", moved.pid, 150))
        finally:
            moved.kill()


@one_of_several
def test_other_code():
    """A copy that differs in one byte has no names."""
    needs("bpf", "perf events")
    recording = record("-F", 499, "--", program("moved_code"), "differ")
    events = [event for event in recording.events() if event.comm == "moved_code"]
    assert len([event for event in events if any(frame.object == "[anon]" for frame in user_frames(event))]) > 20, len(events)
    named = {name for event in events for name in names_of(event)} & {*PATH[:3], "later_work"}
    never(named, named)


@one_of_several
def test_changed_later():
    """Code that is changed later does not count as the file's code."""
    needs("bpf", "perf events")
    if [int(part) for part in re.findall(r"\d+", os.uname().release)[:2]] < [6, 4]:
        raise Skip("this kernel does not say that a mapping was changed")
    recording = record("-F", 499, "--", program("moved_code"), "change")
    events = [event for event in recording.events() if event.comm == "moved_code"]
    names = [names_of(event) for event in events]
    assert sum("leaf_work" in of_event for of_event in names) > 20, len(names)
    never(any("later_work" in of_event for of_event in names), "the code was changed before")


@one_of_several
def test_node_on_large_pages():
    needs("bpf", "perf events")
    if not shutil.which("node"):
        raise Skip("node is missing")
    work = "let n = 0; while (process.cpuUsage().user < 1000000) n += JSON.stringify(Array(20000).fill({a: 1})).length"
    recording = record("-F", 499, "--", "node", "--use-largepages=on", "-e", work)
    complete, rest = user_account(recording)
    assert complete > 3 * sum(rest.values()), (complete, rest)


if __name__ == "__main__":
    main(globals())
