#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A recording without events ends with one line that says why, in every command that records; and every command that reads
it says that it has no events."""

import os
import subprocess

from harness.cases import cgroup2, main, needs, one_of_several, program, stackmap
from harness.waiting import readers, wait_until

COUNTS = program("known_counts")
NEVER = "u:%s:counted" % COUNTS  # a function of a copy that nobody else runs
REASON = "stackmap: 0 events: "


def reason_of(*arguments, command="record"):
    """The last line that a command says."""
    output = ["-o", "empty.data"] if command == "record" else []
    said = stackmap(command, *output, *arguments).stderr.splitlines()
    assert said and said[-1].startswith(REASON), said
    assert sum(line.startswith(REASON) for line in said) == 1, said
    return said[-1][len(REASON):]


def test_no_task_had_the_name():
    """The nearest name that there is, and those that there are most often."""
    needs("bpf", "perf events")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as cat:
        wait_until(lambda: readers(cat.pid))
        reason = reason_of("--comm", "c_at", "--", "true")
        cat.stdin.close()
    assert reason.startswith("no task had the name --comm c_at, did you mean cat?; now there are "), reason
    reason = reason_of("-a", "--comm", "nobody-[0-9]*", "--comm", "no?such?task", "--", "true")
    assert reason.startswith("no task had the name --comm nobody-[0-9]*, no?such?task; now there are "), reason


def test_a_name_that_was_there_is_no_reason():
    needs("bpf", "uprobes")
    reason = reason_of("--comm", "true", "-e", NEVER, "--", "true")
    assert reason == "there was no %s in any task (--comm true)" % NEVER, reason


def test_an_empty_cgroup():
    needs("bpf", "perf events")
    folder = os.path.join(cgroup2(), "stackmap-empty-%d" % os.getpid())
    os.mkdir(folder)
    try:
        assert reason_of("--cgroup", folder, "--", "true") == "no task is in --cgroup " + folder
    finally:
        os.rmdir(folder)


@one_of_several
def test_tasks_that_slept():
    needs("bpf", "perf events")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as cat:
        wait_until(lambda: readers(cat.pid))
        assert reason_of("-p", cat.pid, "--", "true") == "the processes of -p slept all the time"
        cat.stdin.close()
    reason = reason_of("-F", 1, "--", "true")
    assert reason.startswith("the command took ") and reason.endswith(" of CPU time, and a sample is taken every 1000.0 ms of it"), reason


def test_a_source_that_never_fired():
    needs("bpf", "uprobes")
    others = ["-e", "u:%s:ask_parent" % COUNTS]
    assert reason_of("-e", NEVER, "--", "true") == "there was no %s in the command" % NEVER
    assert reason_of("-e", NEVER, "-C", 0, "--", "true") == "there was no %s in the command (-C 0)" % NEVER
    assert reason_of("-a", "-e", NEVER, *others, "--", "true") == "there was no %s, %s in any task" % (NEVER, others[1])
    assert reason_of("-a", "--flight", "1M", "-e", NEVER, "--", "true") == "there was no %s in any task" % NEVER


def test_quiet_and_full_recordings_say_nothing():
    needs("bpf", "uprobes")
    assert not stackmap("record", "-q", "-o", "empty.data", "-e", NEVER, "--", "true").stderr
    assert REASON not in stackmap("record", "-o", "full.data", "-e", NEVER, "--", COUNTS, "calls=1").stderr


def test_top_and_agent():
    needs("bpf", "uprobes")
    expected = "there was no %s in any task" % NEVER
    assert reason_of("--batch", "-n", 1, "-d", 1, "-e", NEVER, command="top") == expected
    assert reason_of("--config", "/dev/null", "--to", "http://127.0.0.1:9", "--spool", "spool", "--window", 1, "--once", 1, "-e", NEVER,
                     command="agent") == expected


def test_readers_of_an_empty_recording():
    needs("bpf", "uprobes")
    stackmap("record", "-q", "-o", "empty.data", "-e", NEVER, "--", "true")
    for command in "report", "script":
        said = stackmap(command, "empty.data").stderr
        assert said.startswith("stackmap: empty.data: no events: nothing that '") and "record -q -o empty.data -e " + NEVER in said, said


if __name__ == "__main__":
    main(globals())
