#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Spans: the time from one event to another, in a thread, nested, across threads by a number, and those that miss an end."""

import collections
import json
import os
import re

from harness.cases import main, needs, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.exported import Perfetto
from harness.recording import names_of, record

PROGRAM = program("known_counts")
MS = 1000000
NEST = "span:u:%s:nest..ur:%s:nest" % (PROGRAM, PROGRAM)
HAND = "span:u:%s:put_key..u:%s:take_key" % (PROGRAM, PROGRAM)
COPY = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1000", "count=100", "status=none"]
UNFINISHED = "spans that went on when recording ended"
UNBEGUN = "ends of spans that had not begun in the recording"
UNKEPT = "spans that were not timed: too many went on at once, or in each other"


def recorded(word, *command, notes=(), has_spare_stacks=False):
    """The events of a recording that lost none, whose ledger has these notes and no others about spans."""
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", word, "--", *command)
    ledger = recording.check(has_spare_stacks=has_spare_stacks)
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


def test_the_stack_may_be_that_of_the_begin():
    word = "span:u:%s:nest..u:%s:counted" % (PROGRAM, PROGRAM)
    for way, inner in ("begin", "nest"), ("end", "counted"):
        events = recorded("%s/stack=%s/" % (word, way), PROGRAM, "nested=1", "calls=1")
        assert len(events) == 1 and names_of(events[0])[0] == inner, events


def test_each_nested_span_has_the_stack_of_its_begin():
    events = recorded(NEST + "/stack=begin/", PROGRAM, "nested=5")
    assert [names_of(event).count("nest") for event in events] == [5, 4, 3, 2, 1], events
    times = [event.value for event in events]
    assert times[0] >= 4 * MS and all(after >= before + 4 * MS for before, after in zip(times, times[1:])), times
    assert {event.name for event in events} == {NEST}


def test_a_stack_of_the_begin_is_whole_beside_samples():
    """In a recording with samples the innermost frame of a stack that comes after its event is apart from the rest."""
    needs("bpf", "raw tracepoints")
    span = "span:syscalls:sys_enter_getpgid..syscalls:sys_exit_getpgid/stack=%s/"
    for way, count in ("begin", 1), ("both", 2):
        recording = record("-F", 99, "-e", "cpu-clock", "-e", span % way, "--", PROGRAM, "getpgid=1")
        recording.check()
        spans = [event for event in recording.events() if event.name.startswith("span:")]
        assert len(spans) == count and all(names_of(event)[:2] == ["syscall", "ask_group"] for event in spans), recording.script


def begins_of(events):
    """The events of spans, each with that of its begin."""
    ends = [event for event in events if not event.name.endswith("..")]
    begins = {(event.time, event.cpu): event for event in events if event.name.endswith("..")}
    assert len(events) == 2 * len(ends) == 2 * len(begins), events
    return [(event, begins[event.time, event.cpu]) for event in ends]


def test_a_span_may_have_the_stacks_of_both_ends():
    word = "span:u:%s:nest..u:%s:counted" % (PROGRAM, PROGRAM)
    (end, begin), = begins_of(recorded(word + "/stack=both/", PROGRAM, "nested=1", "calls=1"))
    assert end.name == word and names_of(end)[:2] == ["counted", "call"], end
    assert begin.name == word.partition("..")[0] + ".." and names_of(begin)[0] == "nest", begin
    assert begin.value == end.value > 0 and begin.tid == end.tid, (begin, end)
    assert end.other == "begun by known_counts %d" % begin.tid, end
    behind = [frame.name for frame in end.frames]
    assert behind[behind.index("[begun by]") + 1:] == [frame.name for frame in begin.frames], behind


def test_each_nested_span_has_both_stacks():
    """Five spans are in one another; with a condition on the time those that meet it have both events, and the others leave no begin."""
    pairs = begins_of(recorded(NEST + "/stack=both/", PROGRAM, "nested=5"))
    assert [names_of(begin).count("nest") for _, begin in pairs] == [5, 4, 3, 2, 1], pairs
    assert [begin.value for _, begin in pairs] == [end.value for end, _ in pairs] and pairs[0][0].value >= 4 * MS, pairs
    pairs = begins_of(recorded(NEST + "/stack=both,if=time>=12ms/", PROGRAM, "nested=5", has_spare_stacks=True))
    assert 3 <= len(pairs) <= 5 and all(end.value == begin.value >= 12 * MS for end, begin in pairs), pairs


def test_both_stacks_of_a_span_across_threads():
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", HAND + "/by=arg1,stack=both/", "--", PROGRAM, "handed=6")
    ledger = recording.check(has_spare_stacks=True)
    assert ledger["recorded"] == ledger["produced"] == 10, ledger
    pairs = begins_of(recording.events())
    assert all(names_of(end)[0] == "take_key" and names_of(begin)[:2] == ["put_key", "hand_over"] for end, begin in pairs), pairs
    assert all(end.tid != begin.tid and end.other == "begun by known_counts %d" % begin.tid for end, begin in pairs), pairs
    rows = json.loads(recording.read("report", "--origins", "--json", "--no-inline"))["origins"]
    assert sum(row["count"] for row in rows) == 5 and {row["event"] for row in rows} == {HAND}, rows
    assert all("put_key" in str(row["begun_by"]["user"]) and "take_key" in str(row["work"]["user"]) for row in rows), rows
    assert sum(row["value"] for row in rows) == sum(end.value for end, _ in pairs), rows
    assert "  begun by known_counts up to " in recording.read("report", "--origins", "--no-inline")
    check_exports(recording, collections.Counter((HAND, begin.tid) for _, begin in pairs))


def check_exports(recording, begun):
    """The end of a span names the thread that began it, also in the exports with times; the begin does not."""
    stackmap("export", "-f", "perfetto", "-o", "spans.perfetto", recording.path)
    perfetto = Perfetto("spans.perfetto")
    assert perfetto.begun_by == begun and not perfetto.queued_by, (perfetto.begun_by, begun)
    stackmap("export", "-f", "chrome", "-o", "spans.json", recording.path)
    with open("spans.json", encoding="utf-8") as file:
        events = [(event["cat"], event["args"]) for event in json.load(file)["traceEvents"] if "cat" in event]
    assert collections.Counter((source, args["begun_by"]) for source, args in events if "begun_by" in args) == begun, events
    assert not any("queued_by" in args for _, args in events) and len(events) == 2 * sum(begun.values()), events


def test_a_flight_recorder_has_both_stacks_of_begins_in_the_ring():
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", NEST + "/stack=both/", "--flight", "1M", "--", PROGRAM, "nested=3")
    recording.check(has_spare_stacks=True)
    assert [names_of(begin).count("nest") for _, begin in begins_of(recording.events())] == [3, 2, 1], recording.script


def test_a_span_with_both_stacks_stops_the_recording_at_its_end():
    """A begin is an event in the ring, and sets nothing off."""
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", "u:%s:counted" % PROGRAM, "--flight", "1M", "--stop-when", NEST + "/stack=both,if=time>=12ms/", "--",
                       PROGRAM, "nested=5")
    assert "nest" in recording.script and "begun by known_counts" in recording.script, recording.script


def test_begins_without_an_event_of_their_end():
    """The spans of 20000 system calls do not meet the condition, and that of the last one does."""
    word = "span:syscalls:sys_enter_write..syscalls:sys_exit_write/stack=begin,if=ret==%d/"
    copy = ["dd", "if=/dev/zero", "of=/dev/null", "bs=10", "count=20000", "status=none"]
    last = ["sh", "-c", " ".join(copy) + "; printf 123 >/dev/null"]
    events = recorded(word % 3, *last, has_spare_stacks=True)
    assert len(events) == 1 and 0 < events[0].value < 10 ** 11, events
    assert recorded(word % 4, *last, has_spare_stacks=True) == []


def test_a_span_across_threads_has_the_thread_of_its_begin():
    word = "%s/by=arg1,stack=begin/,u:%s:hand_over" % (HAND, PROGRAM)
    events = recorded(word, PROGRAM, "handed=6", notes=[(1, UNFINISHED), (1, UNBEGUN)], has_spare_stacks=True)
    assert len(events) == 6 and len({event.tid for event in events}) == 1, events
    events = [event for event in events if event.name == HAND]
    assert all(names_of(event)[:2] == ["put_key", "hand_over"] for event in events), events
    times = [event.value for event in events]
    assert all(after >= before + MS for before, after in zip(times, times[1:])), times
    ends = recorded(HAND + "/by=arg1/", PROGRAM, "handed=6", notes=[(1, UNFINISHED), (1, UNBEGUN)])
    assert all(names_of(event)[0] == "take_key" for event in ends), ends


def test_a_flight_recorder_has_begins_that_are_in_the_ring():
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", NEST + "/stack=begin/", "--flight", "1M", "--", PROGRAM, "nested=3")
    recording.check(has_spare_stacks=True)
    assert [names_of(event).count("nest") for event in recording.events()] == [3, 2, 1], recording.script


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
    refused_beside(word=word, says=says)


def refused_beside(*options, word, says):
    done = stackmap("record", "-o", "no.data", *options, "-e", word, "--", "true", status=None)
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
    refused("span:%s..%s/stack=all/" % (begin, end), says="expected stack=begin, stack=end or stack=both")
    refused("span:%s..%s/stack=end,stack=begin/" % (begin, end), says="expected one value=NUMBER")
    refused(begin + "/by=tid/", says="only a span has by=")
    refused(begin + "/stack=begin/", says="only a span has stack=")
    refused("alive:%s..%s/by=ret:arg1,stack=end/" % (end, begin), says="only span: has stack=")
    refused("%s,%s/stack=begin/" % (NEST, NEST), says="an event of this name is recorded already")
    refused_beside("--rotate", "10s", word=NEST + "/stack=begin/", says="without --rotate")
    done = stackmap("start", "live", "-e", NEST + "/stack=begin/", status=None)
    assert done.returncode and "stack=begin and stack=both are for a file of 'stackmap record'" in done.stderr, done.stderr
    refused("syscalls:sys_enter_read,span:syscalls:sys_enter_read..syscalls:sys_exit_read",
            says="is an event or the end of a span already")


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
