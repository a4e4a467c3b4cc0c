#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Readers that empty the rings of an instance are killed or refused at any step: no event is lost, and another reader
continues."""

import contextlib
import json
import os
import platform
import re
import signal
import subprocess

from harness.cases import SECONDS_MAX, STACKMAP, main, run, stackmap
from harness.engine_folder import enter_own_mounts
from harness.harmed_instance import (COUNTED, COUNTS, STEPS, begin, check_next_start, check_nothing_left, check_stat,
                                     numbered, start, stat, stop, told)
from harness.recording import Recording
from harness.waiting import read_text, wait_until

IN_READERS = ("bpf", "mmap", "flock", "poll" if platform.machine() == "x86_64" else "ppoll", "write")


def reader():
    return json.loads(stackmap("status", "x", "--json").stdout)["reader"]


class Reading:
    """A process that takes events as they come, its system calls in the file "steps"."""

    def __init__(self, command, *options):
        names = ",".join(IN_READERS)
        with open("printed", "wb") as printed, open("messages", "wb") as messages:
            self.process = subprocess.Popen(["strace", "-qq", "-o", "steps", "-e", "trace=" + names, *options, "--",
                                             STACKMAP, *command],
                                            stdin=subprocess.DEVNULL, stdout=printed, stderr=messages)
        wait_until(lambda: self.process.poll() is not None or self.has_begun())

    def pid(self):
        return read_text("/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)).strip()

    def has_begun(self):
        """It waits for signals, too."""
        blocked = re.search(r"^SigBlk:\t(\w+)$", read_text("/proc/%s/status" % self.pid()), re.M)
        return blocked and int(blocked[1], 16) >> signal.SIGINT - 1 & 1 and reader()

    def end(self):
        """It may have ended, or have been ended."""
        pid = self.pid()
        if pid:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGINT)
        self.process.wait(timeout=SECONDS_MAX)
        return self.process.returncode


def check_reader_is_told(status):
    """Checks that the reader reports the refusal, or works without the feature."""
    messages = read_text("messages")
    assert status in (0, 1, -signal.SIGKILL), (status, messages)
    assert status != 1 or re.search(r"^stackmap: .", messages, re.M), messages


def steps_of_reading(command):
    """One of the first of each system call that it makes, once the program itself is loaded."""
    reading = Reading(command)
    run(COUNTS, "calls=1000")
    reading.end()
    steps = numbered(re.findall(r"^(\w+)\(", read_text("steps"), re.M))
    steps = steps[steps.index(("flock", 1)):]
    return [STEPS.choice([step for step in steps if step[0] == name][:20]) for name in IN_READERS]


def check_taken_over(produced):
    """Another gets all that the one before has not taken, and nothing twice."""
    before = len(re.findall(r" %s:" % COUNTED, read_text("printed")))
    run(COUNTS, "calls=100")
    reading = Reading(("record", "--instance", "x", "-o", "g.data"))
    wait_until(lambda: os.path.exists("g.data"))
    assert reading.end() == 0, read_text("messages")
    ledger = Recording("g.data").check()
    assert 100 <= ledger["recorded"] <= produced + 100 - before and ledger["recorded"] == ledger["produced"], (
        ledger, before)
    os.unlink("g.data")
    assert stackmap("script", "--instance", "x").stdout == ""


def check_harmed_reading(command, step, fault):
    name, number = step
    before = stat()
    reading = Reading(command, "-e", "inject=%s:%s:when=%s" % (name, fault, number))
    run(COUNTS, "calls=1000")
    status = reading.end()
    check_reader_is_told(status)
    assert status == -signal.SIGKILL or "KILL" not in fault or name not in ("bpf", "flock"), status
    assert not reader()
    check_taken_over(1000)
    found = stat()
    check_stat(found)
    assert found["produced"] - before["produced"] == found["recorded"] - before["recorded"] == 1100, (before, found)


def check_reading_that_is_harmed(*command):
    """Killed or refused at any step: the account stays whole, and another reader goes on where this one was."""
    begin()
    start("--ring", "1M")
    steps = steps_of_reading(command)
    for step in steps:
        for fault in ("signal=KILL", "error=ENOMEM"):
            with told(*command, fault, "at", step):
                check_harmed_reading(command, step, fault)
    stop()
    check_nothing_left()
    check_next_start()


def test_a_recorder_that_drains_is_harmed():
    check_reading_that_is_harmed("record", "--instance", "x", "-o", "f.data")


def test_a_follower_that_drains_is_harmed():
    check_reading_that_is_harmed("script", "--instance", "x", "-f")


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
