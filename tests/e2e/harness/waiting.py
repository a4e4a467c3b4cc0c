# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Polls for states that the kernel does not announce: contents of /proc files, sleeping tasks, unread data."""

import array
import fcntl
import os
import platform
import termios
import time

from harness.cases import SECONDS_MAX


def read_text(path):
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


# Numbers of system calls, as /proc has them.
READ, WRITE = ("63", "64") if platform.machine() == "aarch64" else ("0", "1")


def wait_until(is_so):
    """Polls until the condition holds, as the kernel does not announce that a task has gone to sleep. Other tasks have the
    CPU meanwhile."""
    deadline = time.monotonic() + SECONDS_MAX
    while not is_so():
        assert time.monotonic() < deadline, "waited for %d s" % SECONDS_MAX
        time.sleep(0.001)


def readers(pid):
    """How many threads of a process sleep in read() of its input."""
    return sum(read_text("/proc/%d/task/%s/syscall" % (pid, tid)).split()[:2] == [READ, "0x0"]
               for tid in os.listdir("/proc/%d/task" % pid))


def unread(pipe):
    left = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, left)
    return left[0]


def wait_until_reading(comm):
    """Until the task of this name sleeps in read() of its standard input."""
    while True:
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/comm" % pid, encoding="ascii", errors="replace") as file:
                    name = file.read().rstrip("\n")
                if name != comm:
                    continue
                with open("/proc/%s/syscall" % pid, encoding="ascii") as file:
                    if file.read().startswith(READ + " 0x0 "):
                        return int(pid)
            except OSError:
                continue
        time.sleep(0.01)
