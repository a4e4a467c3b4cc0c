#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""One stack for each entry into the kernel, for all requests and for each way in which the task leaves again: to user mode,
into another program, to its end, or not at all. Runs in a mount namespace with an engine of its own: no rule is known
before, so each first event of a stack waits for its answer."""

import collections
import platform
import re
import signal
import time

from harness import known_stack
from harness.cases import SECONDS_MAX, Skip, main, needs, program
from harness.engine_folder import check_one_unwind, engine_state, enter_own_mounts, fresh_bpffs
from harness.known_stack import (ENTER_READ, EXIT_EXECVE, FAULT, KNOWN, PATH_INSIDE, Target, check_sleepers, check_whole,
                                 check_whole_or_changed, events_of, execve_events, recorders_of, sleepers)
from harness.recorder import Recorder, sources
from harness.recording import marker, names_of, record, user_account
from harness.waiting import read_text

PAGES = 5
ENTER_SIGRETURN, ENTER_TGKILL = "syscalls:sys_enter_rt_sigreturn", "syscalls:sys_enter_tgkill"
ENTER_GETPPID = "syscalls:sys_enter_getppid"
FAULTS = ["syscalls:sys_enter_getrandom", *[FAULT] * PAGES, "syscalls:sys_exit_getrandom"]


def needs_faults_of_the_kernel():
    if FAULT == "page-faults":
        raise Skip("this kernel has no tracepoint of faults in the kernel alone")


def is_unwinders(event):
    """A page of tables that the program has not read yet, and the unwinder in it does, first without waiting: faults of
    the task, too."""
    return any(frame.name.startswith(("bpf_copy_from_user", "bpf_probe_read_user", "copy_from_user_nofault"))
               for frame in event.frames)


def test_one_unwind_for_all():
    """Seven events in one system call, three recorders: one cookie, one unwind, and each event has the stack."""
    needs("BPF task work", "tracefs")
    needs_faults_of_the_kernel()
    fresh_bpffs()
    target = Target("faults", PAGES)
    recorders = recorders_of(target, *FAULTS)
    before = engine_state()
    target.go_on()
    target.end()
    check_one_unwind(before)
    for recorder in recorders:
        recording = recorder.ended()
        events = [event for event in events_of(recording) if not is_unwinders(event)]
        assert [event.name for event in events] == FAULTS, events
        for event in events:
            check_whole(event, "meet_faults")
        assert len({line.user for line in recording.ids() if line.comm == "known_stack"}) == 1
        assert not user_account(recording)[1]


def kill(recorder):
    recorder.process.kill()
    recorder.process.communicate(timeout=SECONDS_MAX)


def check_waited(recording):
    assert [event.name for event in events_of(recording)] == [ENTER_READ]
    check_whole(events_of(recording)[0], "wait_for_end")
    assert not user_account(recording)[1]


def one_leaves_while_all_wait(victim, leave):
    needs("BPF task work", "tracefs")
    fresh_bpffs()
    target = Target("wait")
    recorders = recorders_of(target, ENTER_READ)
    before = engine_state()
    target.go_on()
    target.wait_for_next_read()
    assert engine_state()["unwinder_next"] == before["unwinder_next"], "nobody waits"
    leave(recorders.pop(victim))
    target.end()
    check_one_unwind(before)
    for recorder in recorders:
        check_waited(recorder.ended())


def test_one_of_three_killed():
    """One recorder is killed while all wait for the stack of a sleeping task. The two others get it by one unwind,
    independent of the first request."""
    for victim in range(3):
        one_leaves_while_all_wait(victim, kill)


def test_one_of_three_ends():
    """It takes the stack out of the sleeping task, and its request with it; the two others wait on."""
    for victim in range(3):
        one_leaves_while_all_wait(victim, lambda recorder: check_waited(recorder.ended()))


def test_many_recorders():
    """As many as there may be are in test_instances."""
    needs("BPF task work", "tracefs")
    fresh_bpffs()
    target = Target("wait")
    recorders = recorders_of(target, ENTER_READ, count=8)
    before = engine_state()
    target.go_on()
    target.end()
    check_one_unwind(before)
    for recorder in recorders:
        check_waited(recorder.ended())


def test_inside_execve():
    """Until the new program runs: the stack that called it, and never one of the new program."""
    for event in execve_events("exec"):
        check_whole_or_changed(event, "become")


def test_at_the_entry_of_each_call():
    """The stack is taken there, and is that of all events inside, wherever they are."""
    needs("BPF task work", "tracefs")
    needs_faults_of_the_kernel()
    recording = record("--user-at-syscall", *sources(*FAULTS), "--", KNOWN, "faults", PAGES)
    assert not user_account(recording)[1]
    events = [event for event in events_of(recording) if not is_unwinders(event)]
    begin = max(i for i, event in enumerate(events) if event.name == FAULTS[0])
    events = events[begin:begin + len(FAULTS)]
    assert [event.name for event in events] == FAULTS, events
    for event in events:
        check_whole(event, "meet_faults")
    for event in execve_events("exec", "--user-at-syscall"):
        check_whole_or_changed(event, "become")


# test_namespaces runs this, too.
test_inside_execve_of_a_thread = known_stack.inside_execve_of_a_thread


def reader_rounds(recorder):
    """How often it has waited for something to read."""
    return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)", read_text("/proc/%d/status" % recorder.process.pid), re.M)[1])


def test_inside_an_execve_that_takes_long():
    """Its stack is not forgotten, however much was read since it was taken."""
    needs("BPF task work", "tracefs")
    recorder = Recorder(*sources(EXIT_EXECVE), "--", program("hold_exit"), KNOWN, "thread_exec", "/bin/true")
    recorder.say(b"held\n")
    begin = reader_rounds(recorder)
    while reader_rounds(recorder) < begin + 20:
        time.sleep(0.01)
    recorder.say(b"go on\n")
    recording = recorder.ended()
    assert not user_account(recording)[1].get("answer_lost"), recording.ledger()
    last = [event for event in recording.events() if event.name == EXIT_EXECVE][-1]
    assert last.comm == "true", last
    check_whole(last, "become", "thread")


def check_around_sigreturn(event, last):
    if event.name == ENTER_SIGRETURN:
        assert names_of(event) == ["[changed]"] and marker(event) == "changed", event
    elif event.name in (ENTER_TGKILL, "signal:signal_deliver"):
        check_whole(event, last)
    elif "rt_sigreturn" in "".join(frame.name for frame in event.frames) and marker(event) != "changed":
        names = names_of(event)
        assert [last, *PATH_INSIDE, "main"] == names[names.index(last):][:5], event


def sigreturn_events(way, last, *names):
    """Who asks there may see half of the registers replaced, and who answers sees all of them: "changed". Once the call
    has set them they are right."""
    needs("BPF task work", "tracefs", "perf events")
    recording = record("-F", 20000, *sources("cpu-clock", ENTER_SIGRETURN, *names), "--", KNOWN, way, 5000)
    user_account(recording)
    events = events_of(recording)
    for event in events:
        check_around_sigreturn(event, last)
    return events


def test_inside_sigreturn():
    events = sigreturn_events("signals", "take_signals", ENTER_TGKILL, "signal:signal_deliver")
    counts = collections.Counter(event.name for event in events)
    assert counts[ENTER_SIGRETURN] == 5000 == counts[ENTER_TGKILL], counts


def test_inside_sigreturn_where_every_step_is_known():
    """Its caller has no signal frame behind it, and makes other calls at the same place: their stacks are whole."""
    if platform.machine() != "x86_64":
        raise Skip("the program has no such call for this machine")
    events = sigreturn_events("returns", "take_returns", ENTER_GETPPID)
    counts = collections.Counter(event.name for event in events)
    assert counts[ENTER_SIGRETURN] == 1 + 5000 and counts[ENTER_GETPPID] == 5000, counts
    for event in events:
        if event.name == ENTER_GETPPID:
            assert names_of(event)[:2] == ["call_on", "take_returns"] and not marker(event), event


def test_killed_with_a_request_pending():
    """Each thread is called back before its memory goes: the unwinder has run in all of them when the process is gone,
    and what is done for tasks that exit otherwise has nothing left to do."""
    needs("BPF task work", "tracefs")
    for number in (signal.SIGKILL, signal.SIGTERM):
        fresh_bpffs()
        target, recorder = sleepers(3)
        before = engine_state()
        target.process.send_signal(number)
        target.end()
        assert engine_state()["unwinder_next"] - before["unwinder_next"] == 3
        check_sleepers(recorder.ended(), 3)


# test_namespaces runs this, too.
test_asleep_at_the_end = known_stack.asleep_at_the_end


def test_inside_exit():
    """As long as there is memory of the task; later it is refused, and counted."""
    needs("BPF task work", "tracefs")
    recording = record(*sources("syscalls:sys_enter_exit_group", "sched:sched_process_exit", "kmem:kmem_cache_free"),
                       "--", KNOWN, "exit")
    account = user_account(recording)[1]
    events = events_of(recording)
    begin = [event.name for event in events].index("syscalls:sys_enter_exit_group")
    missing = [event for event in events[begin:] if not names_of(event)]
    assert account["refused"] == len(missing) > 0, account
    with_stack = [event for event in events[begin:] if names_of(event)]
    assert "sched:sched_process_exit" in {event.name for event in with_stack}
    for event in with_stack:
        check_whole(event, "end_here")


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
