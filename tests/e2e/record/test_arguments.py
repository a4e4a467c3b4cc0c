#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Arguments of user functions by the names in their debug information: the values of each call are known, whatever the
compiler has done, and a condition and its complement add up to all calls."""

import collections
import itertools
import os
import shutil
import subprocess

from harness.cases import main, needs, program, stackmap
from harness.recording import record
from harness.skip import Skip

PROGRAMS = [program("named_arguments"), program("named_arguments_optimised")]
CALLS = 100

# The values of call i; negative numbers are no values.
KNOWN = {
    "integers": {
        "low": lambda i: i & 255, "high": lambda i: 1000 * i, "odd": lambda i: i & 1, "left": lambda i: 2 * i,
        "last": lambda i: 3 * i, "below": lambda i: 0, "less": lambda i: max(0, 2 - i), "level": lambda i: 0 if i % 3 else 5,
    },
    "structures": {
        "pair.first": lambda i: i, "pair.second": lambda i: 4 * i, "number": lambda i: 5 * i, "mixed.count": lambda i: 6 * i,
        "large.second": lambda i: 7 * i, "last": lambda i: 8 * i,
    },
    "made": {
        "number": lambda i: 9 * i, "request->id": lambda i: i, "request->at.row": lambda i: max(0, i - 3),
        "request->next->id": lambda i: 7 * i, "request->next->kind": lambda i: 200,
    },
}


def recorded(word, path):
    """The values of all events of the program, by the name of the event; none are lost."""
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", word, "--", path, str(CALLS))
    ledger = recording.check()
    events = recording.events()
    assert ledger["recorded"] == ledger["produced"] == len(events), (word, ledger)
    values = collections.defaultdict(list)
    for event in events:
        values[event.name].append(event.value)
    return values


def refused(word, *, says):
    done = stackmap("record", "-o", "no.data", "-e", word, "--", "true", status=None)
    assert done.returncode and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr
    assert not os.path.exists("no.data")


def test_values_are_those_of_the_calls():
    for path in PROGRAMS:
        for names in itertools.zip_longest(*KNOWN.values()):
            asked = {"u:%s:%s" % (path, function): (name, KNOWN[function][name]) for function, name in zip(KNOWN, names) if name}
            values = recorded(",".join("%s/value=%s/" % (event, name) for event, (name, _) in asked.items()), path)
            for event, (name, value) in asked.items():
                assert values[event] == [value(i) for i in range(CALLS)], (event, name, values[event][:10])


def test_a_condition_and_its_complement_add_up():
    for number, (integers, met, made, met_made) in enumerate((
            (("below<-9", "below>=-9"), 90, ("request->next->id>70", "request->next->id<=70"), 89),
            (("level==-5", "level!=-5"), 66, ("request->at.row<0", "request->at.row>=0"), 3),
            (("odd!=0&&last>=150", "odd==0||last<150"), 25, ("request->id<40", "request->id>=40"), 40))):
        path = PROGRAMS[number % 2]
        events = ["u:%s:integers" % path, "u:%s:made" % path]
        meets, fails = (recorded("%s/value=last,if=%s/,%s/value=number,if=%s/" % (events[0], first, events[1], second), path)
                        for first, second in zip(integers, made))
        assert [len(meets[event]) for event in events] == [met, met_made], (integers, made, meets)
        assert [len(fails[event]) for event in events] == [CALLS - met, CALLS - met_made], (integers, made, fails)
        assert [sum(meets[event]) + sum(fails[event]) for event in events] == [3 * 4950, 9 * 4950]


def test_second_values_are_read_of_recorded_events_only():
    """The last pointer is NULL: each read of it counts as unreadable."""
    needs("bpf", "raw tracepoints", "uprobes")
    word = "u:%s:made/values=number,request->next->next->id:id,if=number>=810/" % PROGRAMS[0]
    recording = record("-e", word, "--", PROGRAMS[0], str(CALLS))
    assert recording.check()["recorded"] == 10
    report = recording.read("report")
    assert "10 numbers of events in memory that could not be read" in report, report


def test_a_debug_file_is_found():
    if not shutil.which("objcopy"):
        raise Skip("objcopy of binutils is not installed")
    stripped, debug = os.path.realpath("program"), os.path.realpath("program.debug")
    subprocess.run(["objcopy", "--only-keep-debug", PROGRAMS[1], debug], check=True)
    subprocess.run(["objcopy", "--strip-debug", "--add-gnu-debuglink=" + debug, PROGRAMS[1], stripped], check=True)
    word = "u:%s:made/value=number/" % stripped
    assert recorded(word, stripped)["u:%s:made" % stripped] == [9 * i for i in range(CALLS)]
    os.unlink(debug)
    refused(word, says="no number number; the entry of a function has arg1 to arg6; names of arguments need debug "
                "information of %s: install its debug symbols" % stripped)


def test_what_is_refused_says_why():
    word = "u:%s:%%s/value=%%s/" % PROGRAMS[0]
    refused(word % ("made", "size"), says="no number size; the entry of a function has arg1 to arg6; "
            "made has no parameter size; it has number, request")
    refused(word % ("structures", "weight"), says="weight is not in a register for integers at the entry of structures")
    refused(word % ("structures", "large"), says="large is a structure, not a number; name a member")
    refused(word % ("made", "request->size"), says="request has no member size; it has id, at, next, kind")
    refused(word % ("made", "number->id"), says="no pointer stands before ->")
    refused(word % ("made", "request->next->next->next->next->id"), says="more than 4 pointers")
    refused((word % ("made", "number")).replace("u:", "ur:", 1), says="no number number; the return of a function has ret")
    refused(word % ("made+4", "number"), says="arguments are known at the first instruction of a function")
    refused((word % ("made", "number,if=number>4G")), says="number is a number of 32 bits with a sign")


if __name__ == "__main__":
    main(globals())
