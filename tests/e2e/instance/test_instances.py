#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The largest number of instances side by side: each has its own sources, filters and mode, none disturbs another, all
requests of one moment share an unwind, and no object is left at the end."""

import concurrent.futures
import json
import os

from harness.bpf_objects import is_there, shown
from harness.cases import main, needs, program, run, stackmap
from harness.engine_folder import HOME, check_one_unwind, engine_state, enter_own_mounts, forget_tables, fresh_bpffs
from harness.known_stack import Target, check_whole
from harness.recording import kernel_frames, parse_events, user_frames
from harness.waiting import readers, unread, wait_until

COUNT = 62
COUNTS = program("known_counts")
CPUS = len(os.sched_getaffinity(0))


def name_of(number):
    return "i%d" % number


def names():
    return [name_of(number) for number in range(COUNT)]


def calls_of(number):
    """The calls of an instance's workload: different for each instance and each source."""
    return {"getppid": 100 + number, "getpgid": 300 + number, "calls": 500 + number}


def source_of(number):
    """A source, and how many events it must have."""
    calls = calls_of(number)
    return [("syscalls:sys_enter_getppid", calls["getppid"]), ("syscalls:sys_exit_getpgid", calls["getpgid"]),
            ("u:%s:counted" % COUNTS, calls["calls"]), ("u:%s:ask_parent" % COUNTS, 1)][number % 4]


def options_of(number):
    """Every combination of a mode and the ways to take stacks, and a task filter of its own."""
    ring = "64K" if number % 5 else "128K"  # whole stacks take more
    options = ["--flight", "1M"] if number % 2 else ["--ring", ring]
    options += ["--bits", 10 + number % 3]
    if number % 3 == 0:
        options.append("--no-user")
    if number % 3 == 1:
        options.append("--no-kernel")
    if number % 5 == 0:
        options.append("--no-dedup")
    return options + ["--comm", name_of(number)]


def work(number):
    """A task of the instance's name, of the one program whose functions are traced."""
    os.symlink(COUNTS, name_of(number))
    run("./" + name_of(number), *["%s=%d" % item for item in calls_of(number).items()])


def events_of(name):
    return parse_events(stackmap("script", "--no-inline", "--instance", name).stdout)


def check_events(number):
    source, count = source_of(number)
    events = events_of(name_of(number))
    assert len(events) == count, (number, source, len(events), count)
    assert {(event.comm, event.name) for event in events} == {(name_of(number), source)}, (number, events[0])
    assert all(bool(user_frames(event)) == (number % 3 != 0) for event in events), (number, events[0])
    assert number % 3 != 1 or not any(kernel_frames(event) for event in events), number


def check_status():
    """Each has its own account."""
    found = {one["name"]: one["ledger"] for one in json.loads(stackmap("status", "--json").stdout)["instances"]}
    assert set(found) == set(names()), found
    for number in range(COUNT):
        ledger = found[name_of(number)]
        assert ledger["produced"] == source_of(number)[1] and not sum(ledger["lost"].values()), (number, ledger)


def at_once(do):
    """For all of them, more than one on each CPU: a start is the kernel's work on programs, and waits for grace periods."""
    with concurrent.futures.ThreadPoolExecutor(3 * CPUS) as pool:
        list(pool.map(do, range(COUNT)))


def pinned_ids(kind):
    return {one["id"] for one in shown(kind) if any(path.startswith(HOME + "/") for path in one.get("pinned", []))}


def check_and_stop(check):
    """Each while the others go on. What they had is gone, if not at once: the kernel frees after a grace period."""
    def check_one(number):
        check(number)
        stackmap("stop", name_of(number))

    had = {kind: pinned_ids(kind) for kind in ("prog", "map", "link")}
    assert all(len(pinned) >= COUNT for pinned in had.values()), {kind: len(pinned) for kind, pinned in had.items()}
    at_once(check_one)
    assert not os.path.exists(HOME), os.listdir(HOME)
    for kind, pinned in had.items():
        wait_until(lambda kind=kind, pinned=pinned: not any(is_there(kind, number) for number in pinned))


def test_each_receives_its_events():
    needs("bpf", "raw tracepoints", "tracefs", "uprobes")
    fresh_bpffs()
    at_once(lambda number: stackmap("start", name_of(number), "-e", source_of(number)[0], *options_of(number)))
    for number in range(COUNT):
        work(number)
    check_status()
    check_and_stop(check_events)


def test_one_unwind_for_all():
    """An event in all of them at once, with a stack that nobody knows yet."""
    def check_stack(number):
        event, = [event for event in events_of(name_of(number)) if event.comm == "known_stack"]
        check_whole(event, "wait_for_end")

    needs("BPF task work", "tracefs")
    fresh_bpffs()
    target = Target("wait")
    at_once(lambda number: stackmap("start", name_of(number), "-p", target.pid, "--bits", 10, "--ring", "64K",
                                    "-e", "syscalls:sys_enter_read"))
    forget_tables()
    before = engine_state()
    target.go_on()
    wait_until(lambda: not unread(target.process.stdin) and readers(target.pid))
    target.end()
    check_one_unwind(before)
    check_and_stop(check_stack)


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
