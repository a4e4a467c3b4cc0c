#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Each kind of source records the known numbers of events of a workload."""

import collections
import os
import platform
import shutil

from harness.cases import features, main, needs, program, stackmap
from harness.recording import function, kernel_frames, record, user_frames

LIBC = "/lib/%s-linux-gnu/libc.so.6" % platform.machine()
WORKLOAD = program("known_counts")


def counts(*arguments, sources, **options):
    """Records the workload; event name -> number of events."""
    words = [word for source in sources for word in ("-e", source)]
    recording = record(*words, "--", WORKLOAD, *arguments, **options)
    ledger = recording.check()
    assert ledger["recorded"] == ledger["produced"], ledger
    return collections.Counter(event.name for event in recording.events())


def test_user_function_and_its_return():
    needs("bpf", "uprobes")
    call, back = "u:%s:counted" % WORKLOAD, "ur:%s:counted" % WORKLOAD
    assert counts("calls=12345", sources=[call, back]) == {call: 12345, back: 12345}


def test_user_functions_by_glob():
    needs("bpf", "uprobes")
    found = counts("calls=100", "getppid=7", "getpgid=9", sources=["u:%s:ask_*" % WORKLOAD])
    assert found == {"u:%s:ask_parent" % WORKLOAD: 1, "u:%s:ask_group" % WORKLOAD: 1}, found


def test_function_of_a_static_program():
    needs("bpf", "uprobes")
    workload = program("known_counts_static")
    recording = record("-e", "u:%s:counted" % workload, "--", workload, "calls=500")
    assert recording.check()["produced"] == 500
    for event in recording.events():
        names = [function(frame) for frame in user_frames(event)]
        assert names[0] == "counted" and "call" in names and "main" in names, names


def test_malloc():
    """The loader and the C library call it too, the same number of times in each run. Nobody else has this library."""
    needs("bpf", "uprobes")
    library = shutil.copy(LIBC, os.path.abspath("libc.so.6"))
    own = {**os.environ, "LD_LIBRARY_PATH": os.getcwd()}
    few, many = (sum(counts("allocations=%d" % n, sources=["u:%s:malloc" % library], env=own).values()) for n in (1000, 6000))
    assert many - few == 5000 and few >= 1000, (few, many)


def test_system_calls_by_glob():
    needs("bpf", "raw tracepoints", "tracefs")
    found = counts("getppid=321", "getpgid=654", sources=["syscalls:sys_enter_getp*id", "syscalls:sys_exit_getp*id"])
    for side in ("enter", "exit"):
        assert found["syscalls:sys_%s_getppid" % side] == 321, found
        assert found["syscalls:sys_%s_getpgid" % side] == 654, found


def test_all_system_calls():
    """Each call that is entered returns, apart from the exit and the calls it begins and ends within."""
    needs("bpf", "raw tracepoints", "tracefs")
    found = counts("getppid=1000", sources=["syscalls:*"])
    assert found["syscalls:sys_enter_getppid"] == found["syscalls:sys_exit_getppid"] == 1000, found
    enters = sum(count for name, count in found.items() if "sys_enter_" in name)
    exits = sum(count for name, count in found.items() if "sys_exit_" in name)
    assert enters - exits in (0, 1) and found["syscalls:sys_enter_exit_group"] == 1, found


def test_system_call_has_its_stack():
    needs("bpf", "raw tracepoints", "tracefs")
    recording = record("-e", "syscalls:sys_enter_getppid", "--", program("known_counts_static"), "getppid=50")
    assert recording.check()["produced"] == 50
    for event in recording.events():
        names = [function(frame) for frame in event.frames]
        assert {"do_syscall_64", "do_el0_svc"} & set(names) and "work" in names and "main" in names, names


def test_page_faults():
    """As many as the kernel counts for the process, by the function that makes them."""
    needs("bpf", "perf events")
    recording = record("-e", "page-faults", "--", "sh", "-c", "%s faults=3000 >counted" % WORKLOAD)
    recording.check()
    with open("counted", encoding="ascii") as file:
        counted = int(file.read())
    touched = [event for event in recording.events()
               if any(function(frame) == "touch_pages" for frame in user_frames(event))]
    assert len(touched) == counted >= 3000, (len(touched), counted)


def test_period_of_events_without_their_own():
    """An event for each tenth fault, of every event but the one that says how often."""
    needs("bpf", "perf events")
    recording = record("-c", 10, "-e", "page-faults,minor-faults/100", "--", "sh", "-c", "%s faults=3000 >counted" % WORKLOAD)
    recording.check()
    with open("counted", encoding="ascii") as file:
        counted = int(file.read())
    touched = [event.name for event in recording.events()
               if any(function(frame) == "touch_pages" for frame in user_frames(event))]
    for name, period in ("page-faults", 10), ("minor-faults", 100):
        assert abs(touched.count(name) - counted / period) <= 1, (name, touched.count(name), counted)


def test_period_without_events_is_that_of_samples():
    needs("bpf", "perf events")
    recording = record("-c", 2000000, "--", "sh", "-c", "i=0; while [ $i -lt 500000 ]; do i=$((i+1)); done")
    assert recording.check()["recorded"] > 10 and {event.name for event in recording.events()} <= {"cpu-clock", "cycles"}


def test_period_that_no_event_takes():
    for words in ("-e", "sched:sched_switch"), ("-e", "page-faults/5"):
        done = stackmap("record", "-c", "100", *words, "--", "true", status=None)
        assert done.returncode == 2 and "-c 100: no event takes this period" in done.stderr, done.stderr
    done = stackmap("record", "-c", "100", "-F", "99", "--", "true", status=None)
    assert done.returncode == 2 and "-F and -c: choose one" in done.stderr, done.stderr


def test_samples_of_one_mode():
    """cpu-clock:u in user mode only, cpu-clock:k in the kernel only; both of a program that is in both."""
    needs("bpf", "perf events")
    recording = record("-F", 2000, "-e", "cpu-clock:u", "-e", "cpu-clock:k", "--", "sh", "-c",
                       "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done; exec dd if=/dev/zero of=/dev/null bs=1k count=500000 status=none")
    recording.check()
    events = recording.events()
    kernel = {name: [bool(kernel_frames(event)) for event in events if event.name == name] for name in ("cpu-clock:u", "cpu-clock:k")}
    assert len(kernel["cpu-clock:u"]) > 20 and not any(kernel["cpu-clock:u"]), kernel["cpu-clock:u"].count(True)
    assert len(kernel["cpu-clock:k"]) > 20 and all(kernel["cpu-clock:k"]), kernel["cpu-clock:k"].count(False)


def test_tracepoint_with_its_stack():
    needs("bpf", "raw tracepoints", "tracefs")
    recording = record("-e", "sched:sched_process_exec", "--", "sh", "-c", "true; /bin/true; /bin/true; /bin/true")
    assert recording.check()["recorded"] == 4
    for event in recording.events():
        assert "bprm_execve" in [function(frame) for frame in event.frames], event


def test_kernel_function():
    if features().get("fentry"):
        needs("kprobes")
    recording = record("-e", "k:vfs_read", "--", "dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=500",
                       "status=none")
    assert recording.check()["recorded"] >= 500


def test_stacks_that_are_not_asked_for():
    needs("bpf", "raw tracepoints", "tracefs")
    for options, kernel, user in ((["--no-kernel"], False, True), (["--no-user"], True, False)):
        recording = record(*options, "-e", "syscalls:sys_enter_getppid", "--", WORKLOAD, "getppid=20")
        recording.check()
        for line in recording.ids():
            assert (line.kernel is not None, line.user is not None) == (kernel, user), line


def test_refused_kernel_function_says_so():
    needs("bpf")
    done = stackmap("record", "-o", "f.data", "-e", "k:vfs_read", "--", "true", status=None)
    if done.returncode:
        assert done.stderr.count("\n") == 1 and "fentry" in done.stderr and "kprobe" in done.stderr, done.stderr
        assert os.listdir(".") == []


main(globals())
