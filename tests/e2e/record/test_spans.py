#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Spans: the time from one event to another, in a thread, nested, across threads by a number, and those that miss an end."""

import os
import re

from harness.cases import main, needs, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.recording import names_of, record

PROGRAM = program("known_counts")
MS = 1000000
NEST = "span:u:%s:nest..ur:%s:nest" % (PROGRAM, PROGRAM)
HAND = "span:u:%s:put_key..u:%s:take_key" % (PROGRAM, PROGRAM)
COPY = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1000", "count=100", "status=none"]
UNFINISHED = "spans that went on when recording ended"
UNBEGUN = "ends of spans that had not begun in the recording"
UNKEPT = "spans that were not timed: too many went on at once, or in each other"


def recorded(word, *command, notes=()):
    """The events of a recording that lost none, whose ledger has these notes and no others about spans."""
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", word, "--", *command)
    ledger = recording.check()
    assert ledger["recorded"] == ledger["produced"], ledger
    said = re.findall(r"ledger: ([0-9]+) ([^\n]*spans[^\n]*)", recording.messages)
    assert [(int(count), text) for count, text in said] == list(notes), (said, notes)
    if not ledger["recorded"]:
        return []
    assert re.findall(r"# ledger: +([0-9]+) ([^\n]*spans[^\n]*)", recording.read("report")) == said
    return recording.events()


def test_nested_spans_are_told_apart():
    """The innermost ends first, and each holds the next one and two sleeps of its own."""
    for depth in 1, 3, 8:
        events = recorded(NEST, PROGRAM, "nested=%d" % depth)
        times = [event.value for event in events]
        assert len(times) == depth and times[0] >= 4 * MS, times
        assert all(after >= before + 4 * MS for before, after in zip(times, times[1:])), times
        assert {event.name for event in events} == {NEST}


def test_spans_that_are_too_deep_are_counted():
    times = [event.value for event in recorded(NEST, PROGRAM, "nested=11", notes=[(3, UNKEPT)])]
    assert len(times) == 8 and times[0] >= 16 * MS, times


def test_the_stack_is_that_of_the_end():
    events = recorded("span:u:%s:nest..u:%s:counted" % (PROGRAM, PROGRAM), PROGRAM, "nested=1", "calls=1")
    assert len(events) == 1 and names_of(events[0])[:2] == ["counted", "call"], events


def test_conditions_on_the_time():
    events = recorded(NEST + "/if=time>=12ms/", PROGRAM, "nested=5")
    assert len(events) in (3, 4, 5) and min(event.value for event in events) >= 12 * MS, events
    assert recorded(NEST + "/if=time<4ms/", PROGRAM, "nested=5") == []
    assert len(recorded(NEST + "/if=time<4ms||comm~known*/", PROGRAM, "nested=5")) == 5


def test_a_number_joins_threads():
    events = recorded(HAND + "/by=arg1/", PROGRAM, "handed=6", notes=[(1, UNFINISHED), (1, UNBEGUN)])
    times = [event.value for event in events]
    assert len(times) == 5 and all(after >= before + MS for before, after in zip(times, times[1:])), times
    assert len(recorded(HAND + "/by=tid/", PROGRAM, "handed=1")) == 1
    assert len(recorded(HAND + "/by=pid/", PROGRAM, "handed=2", notes=[(1, UNBEGUN)])) == 1


def test_each_end_has_its_number():
    """A block of malloc lives until free: its address is a result here and an argument there."""
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", "span:ur:libc.so.6:malloc..u:libc.so.6:free/by=ret:arg1/", "--", PROGRAM, "allocations=50")
    recording.check()
    blocks = [event for event in recording.events() if "allocate" in names_of(event)]
    assert len(blocks) == 50, recording.script


def test_system_calls():
    name = "span:syscalls:sys_enter_write..syscalls:sys_exit_write"
    events = recorded(name, *COPY)
    assert len(events) == 100 and all(0 < event.value < 10 ** 11 for event in events)
    assert len(recorded(name + "/if=ret==1000&&time>0/", *COPY)) == 100
    assert recorded(name + "/if=ret!=1000/", *COPY) == []


def test_tracepoints():
    """The life of a program, from the end of its execve on."""
    needs("bpf", "raw tracepoints")
    recording = record("-e", "span:sched:sched_process_exec..sched:sched_process_exit", "--", "sh", "-c", "sleep 0.05; :")
    recording.check()
    lives = {event.comm: event.value for event in recording.events()}
    assert lives["sleep"] >= 50 * MS and lives["sh"] > lives["sleep"], lives


def test_spans_beside_other_events_of_the_function():
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", "%s,u:%s:nest/value=arg1/" % (NEST, PROGRAM), "--", PROGRAM, "nested=3")
    recording.check()
    assert [event.value for event in recording.events() if not event.name.startswith("span:")] == [3, 2, 1]
    assert len(recording.events()) == 6


def test_an_instance_times_spans():
    needs("bpf", "raw tracepoints", "uprobes")
    fresh_bpffs()
    stackmap("start", "live", "-e", NEST, "--comm", "known_counts", "--flight", "1M")
    run(PROGRAM, "nested=2")
    recording = record("--instance", "live")
    recording.check()
    stackmap("stop", "live")
    times = [event.value for event in recording.events()]
    assert len(times) == 2 and times[1] >= times[0] + 4 * MS, times


def refused(word, *, says):
    done = stackmap("record", "-o", "no.data", "-e", word, "--", "true", status=None)
    assert done.returncode and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr
    assert not os.path.exists("no.data")


def test_what_is_no_span_is_refused():
    begin, end = "u:%s:nest" % PROGRAM, "ur:%s:nest" % PROGRAM
    refused("span:" + begin, says="expected span:BEGIN..END")
    refused("span:%s..cpu-clock" % begin, says="a span is between tracepoints, system calls and functions")
    refused("span:%s..%s/value=ret/" % (begin, end), says="the value of a span is its time")
    refused("span:%s..%s/by=arg1/" % (begin, end), says="no number arg1; the return of a function has ret")
    refused("span:%s..%s/by=/" % (begin, end), says="expected by=tid, by=pid, by=NAME, or by=NAME:NAME")
    refused("span:%s..%s/if=time>10parsec/" % (begin, end), says="bad condition time>10parsec")
    refused("span:%s..%sx" % (begin, end), says="no such function; did you mean")
    refused(begin + "/by=tid/", says="only a span has by=")
    refused("syscalls:sys_enter_read,span:syscalls:sys_enter_read..syscalls:sys_exit_read",
            says="is an event or the end of a span already")


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
