#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A program whose unwind tables, text and stack are not in memory: its stacks are whole, where an unwinder that may not
fault, the same one in the event's own program, has them only as long as all is there."""

import contextlib
import os
import shutil

from harness.cases import SKIPPED, Skip, main, needs, needs_command, program, run
from harness.recording import function, record, user_account, user_frames

# The stack of the program cold_stack.
CHAIN = ["innermost", "inner", "middle", "outer", "main"]
CALLS = 3

TRIES = 10
SWAP_BYTES = 64 << 20
ZRAM = "/sys/class/zram-control"


def own_copy():
    """Pages that no other process maps, and that need not be written first."""
    shutil.copy(program("cold_stack"), "cold_stack")
    with open("cold_stack", "rb") as file:
        os.fsync(file.fileno())
    return os.path.abspath("cold_stack")


def once_paged_out(attempt, *arguments):
    """Until each page was out when it had to be: one that is in use for a moment is not taken."""
    for _ in range(TRIES):
        found = attempt(*arguments)
        if len(found) == CALLS:
            return found
    raise Skip("the kernel does not page out files of %s" % os.getcwd())


def without_faults(target, state):
    """How the stacks end for the unwinder that may not fault."""
    unwinder = program("cold_walk")
    if not os.path.exists(unwinder):
        raise Skip("the unwinder to compare with is not built here")
    done = run(unwinder, program("../unwind/unwind_walk_direct.bpf.o"), target, state, status=None)
    if done.returncode == SKIPPED:
        raise Skip(done.stdout.strip())
    assert not done.returncode, done.stdout + done.stderr
    return [tuple(line.split()) for line in done.stdout.splitlines()]


def recorded(target, state):
    recording = record("-e", "syscalls:sys_enter_getppid", "--", target, state, status=None)
    assert not user_account(recording)[1]
    return [event for event in recording.events() if event.comm == "cold_stack"]


def compare(target, state, ends):
    """Both of them, on a program whose pages are in this state at each of its system calls."""
    needs("bpf", "raw tracepoints")
    found = once_paged_out(without_faults, target, state)
    assert {end for _, end in found} == ends, found
    for event in once_paged_out(recorded, target, state):
        names = [function(frame) for frame in user_frames(event)]
        assert names[:len(CHAIN)] == CHAIN and names[-1] == "_start", event


def test_all_in_memory():
    compare(own_copy(), "warm", {"root"})


def test_tables_and_text_paged_out():
    compare(own_copy(), "cold", {"table_unreadable"})


def write(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


@contextlib.contextmanager
def zram():
    """A block device of its own, of compressed memory."""
    try:
        with open(ZRAM + "/hot_add", encoding="ascii") as file:
            number = file.read().strip()
    except OSError as error:
        raise Skip("no zram here: %s" % error) from error
    folder = "/sys/block/zram%s/" % number
    try:
        write(folder + "disksize", str(SWAP_BYTES))
        yield "/dev/zram" + number
    finally:
        write(folder + "reset", "1")
        write(ZRAM + "/hot_remove", number)


@contextlib.contextmanager
def swap_on(device):
    run("mkswap", device)
    run("swapon", device)
    try:
        yield
    finally:
        run("swapoff", device)


def test_stack_swapped_out():
    target = own_copy()
    needs_command("mkswap", "--version")
    with zram() as device, swap_on(device):
        compare(target, "swapped", {"stack_unreadable"})


if __name__ == "__main__":
    main(globals())
