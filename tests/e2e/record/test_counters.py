#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Counters of perf as values of events, of calls that make a known number of page faults, or take a known time, while
another process does the same on the same CPU."""

import os
import re

from harness.cases import Skip, main, needs, program, stackmap
from harness.recording import record

PROGRAM = program("counted")
ENTRY, RETURN = "u:%s:work" % PROGRAM, "ur:%s:work" % PROGRAM
WARM, ROUNDS, PAGES = 4, 20, 100


def check_values(values, expected, missing):
    """Each value is the known one, except those whose absence is counted: a machine may hide switches from programs."""
    assert set(values) <= {expected, 0} and sum(value != expected for value in values) <= missing, (values, missing)


def both(counter):
    return "%s/value=+%s/,%s/value=+%s/" % (ENTRY, counter, RETURN, counter)


def values_missing(recording):
    """Events without a value: the first of their thread, and all others."""
    recording.check()
    text = recording.read("report")
    first, others = (sum(map(int, re.findall(r"(\d+) events with the value 0: " + why, text)))
                     for why in ("the first", "(?!the first)"))
    return first, others


def counted(events, mode, amount, threads=1, firsts=0, options=()):
    """The values of the program's threads by event, thread by thread, and how many have none besides the first of a thread."""
    needs("bpf", "raw tracepoints", "typed tracepoints", "uprobes", "perf events")
    recording = record("-e", events, *options, "--", PROGRAM, mode, str(ROUNDS), str(amount), str(threads))
    found = {}
    for event in recording.events():
        found.setdefault(event.tid, {}).setdefault(event.name, []).append(event.value)
    first, missing = values_missing(recording)
    assert len(found) == threads and first == (firsts or threads) and missing < 20, recording.read("report")
    return list(found.values()), missing


def test_page_faults_inside_and_outside_of_a_function():
    """The process beside it, and the CPU that it goes to, count as nothing."""
    for mode in "fill", "move":
        (thread,), missing = counted(both("page-faults"), mode, PAGES)
        check_values(thread[RETURN][WARM:], PAGES, missing)
        assert thread[ENTRY][WARM:] == [0] * ROUNDS and thread[ENTRY][0] == 0, (mode, thread)


def test_a_counter_takes_no_samples():
    """The clock of the CPU goes on between two calls of one thread; the PMU has no samples."""
    if not os.path.exists("/sys/bus/event_source/devices/msr/events/tsc"):
        raise Skip("no PMU msr on this machine")
    (thread,), missing = counted(RETURN + "/value=+msr/tsc//", "fill", PAGES)
    values = thread[RETURN][WARM:]
    assert len(values) == ROUNDS and sum(value > 0 for value in values) >= ROUNDS - missing, (values, missing)
    refused = stackmap("record", "-e", "msr/tsc/", "--", "true", status=None)
    assert refused.returncode and "the kernel takes no samples of this event here" in refused.stderr, refused.stderr


def test_each_thread_has_its_own_count():
    threads, missing = counted(RETURN + "/value=+minor-faults:pages/", "fill", PAGES, 4)
    values = sorted((thread[RETURN] for thread in threads), key=sum)
    for i in range(4):
        check_values(values[i][WARM:], PAGES * (i + 1), missing)


def test_an_event_that_is_left_out_reads_no_counter():
    (thread,), missing = counted(RETURN + "/value=+page-faults,if=ret>%d/" % (PAGES - 1), "fill", PAGES)
    assert len(thread[RETURN]) == ROUNDS and thread[RETURN][0] == 0, thread
    check_values(thread[RETURN][1:], PAGES, missing)


def test_an_event_on_one_cpu_knows_what_the_thread_has_done_on_another():
    """Each round ends on the first CPU, where it has made four of seven parts of its faults."""
    (thread,), missing = counted(RETURN + "/value=+page-faults/", "move", 16 * 7, options=("-C", "0"))
    assert len(thread[RETURN]) == WARM + ROUNDS, thread
    check_values(thread[RETURN][WARM:], 16 * 7, missing)


def test_two_counters_beside_one_another():
    (thread,), missing = counted("%s/value=+task-clock/,%s/value=+page-faults/" % (ENTRY, RETURN), "fill", PAGES, firsts=2)
    check_values(thread[RETURN][WARM:], PAGES, missing)
    assert sum(not value for value in thread[ENTRY][1:]) <= missing and max(thread[ENTRY]) < 10 ** 9, thread


def test_cpu_time_without_that_of_others():
    """The function runs for half of the time or less, as the CPU has others to run. Its own clock changes hands at another moment
    of a switch than the counter."""
    (thread,), missing = counted(both("task-clock"), "spin", 10000)
    values = thread[RETURN][WARM:]
    assert sum(value < 5e6 for value in values) <= missing, thread
    assert 0.95 * (ROUNDS - missing) * 1e7 < sum(values) < ROUNDS * 1.3e7, thread


def test_switches_of_the_thread():
    (thread,), missing = counted(both("context-switches"), "nap", 10)
    values = thread[RETURN][WARM:]
    assert sum(value < 10 for value in values) <= missing and sum(values) < ROUNDS * 20, thread


def test_samples_and_switches_read_counters():
    needs("bpf", "raw tracepoints", "typed tracepoints", "perf events")
    command = (PROGRAM, "fill", str(ROUNDS), str(PAGES))
    recording = record("-e", "sched:sched_switch/value=+page-faults/", "--", *command)
    assert values_missing(recording)[1] < recording.ledger()["recorded"] / 10, recording.read("report")
    names = "page-faults", "cpu-clock"
    recording = record("-e", "page-faults/value=+page-faults/,cpu-clock/value=+page-faults/", "--", *command)
    recording.check()
    events = [event for event in recording.events() if event.name in names]
    assert sum(event.value for event in events if event.name == "page-faults") > ROUNDS * PAGES, len(events)


def refused(word, *, says):
    result = stackmap("record", "-e", word, "--", "true", status=None)
    assert result.returncode and says in result.stderr, (word, result.stderr)


def test_what_is_no_counter_is_refused():
    refused(ENTRY + "/value=+page-fault/", says="+page-fault: no such perf event; did you mean +page-faults?")
    refused(ENTRY + "/value=+page-faults/7/", says="a counter is a perf event without a period")
    refused(ENTRY + "/value=+page-faults:pu/", says="a counter takes no samples, so its modes are u and k")
    refused(ENTRY + "/value=+page-f*/", says="a counter has one name, no glob")
    refused(ENTRY + "/value=+/", says="/value=+EVENT/")
    refused("span:%s..%s/by=tid,value=+page-faults/" % (ENTRY, RETURN), says="a counter is the value of single events")
    started = stackmap("start", "counters", "-e", "sched:sched_switch/value=+page-faults/", status=None)
    assert started.returncode and "value=+EVENT: an instance has no process" in started.stderr, started.stderr
    needs("tracefs")
    words = zip(("switch", "wakeup", "waking", "process_fork", "process_exit"),
                ("page-faults", "minor-faults", "major-faults", "task-clock", "cpu-clock"))
    refused(",".join("sched:sched_%s/value=+%s/" % word for word in words), says="more than 4 different counters")


if __name__ == "__main__":
    main(globals())
