#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Values of functions, and conditions on events, of a program whose arguments and results are known. What a condition
leaves out is not produced, and a condition and its complement add up to all events."""

import os
import re

from harness.cases import main, needs, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.recording import Recording, names_of, record

PROGRAM = program("known_counts")
COMMAND = [PROGRAM, "arguments=1000"]
TAKE, TAKEN = "u:%s:take" % PROGRAM, "ur:%s:take" % PROGRAM
TEN = "ur:%s:ten" % PROGRAM
CALLS = 1000
UNMET = re.compile(r"ledger: +([0-9]+) events did not meet the conditions")

ADJUST, EXEC = "oom:oom_score_adj_update", "sched:sched_process_exec"
SET = ["sh", "-c", "for score in 250 1000 7; do echo $score >/proc/self/oom_score_adj; done"]
WRITE, WRITTEN = "syscalls:sys_enter_write", "syscalls:sys_exit_write"


def needs_functions():
    needs("bpf", "raw tracepoints", "uprobes")


def recorded(word, command=COMMAND, options=()):
    """The values of all events, of a recording that has lost none and produced none besides."""
    needs_functions()
    recording = record("-e", word, *options, "--", *command)
    ledger = recording.check()
    values = [event.value for event in recording.events()]
    assert ledger["recorded"] == ledger["produced"] == len(values), (word, ledger)
    return values


def test_each_argument_has_its_register():
    for number, factor in (1, 1), (3, 3), (4, 4), (5, 5), (6, 6):
        values = recorded("%s/value=arg%d/" % (TAKE, number))
        assert values == [factor * i for i in range(CALLS)], (number, values[:10])


def test_a_negative_argument_is_no_value():
    assert recorded(TAKE + "/value=arg2:s32/") == [0] * CALLS
    assert recorded(TAKE + "/value=arg2:u8/") == [-i & 0xff for i in range(CALLS)]


def test_a_result_is_a_value():
    assert recorded(TAKEN + "/value=ret/") == [max(0, i - 500) for i in range(CALLS)]


def test_a_result_has_the_bytes_of_its_type():
    assert recorded(TEN + "/value=ret:u32,if=ret:s32<0/") == [(1 << 32) - i % 10 for i in range(CALLS) if i % 10]
    assert recorded(TEN + "/value=ret:s32,if=ret:s32>=0/") == [0] * (CALLS // 10)


def test_the_unit_is_told_by_all_readers():
    needs_functions()
    recording = record("-e", TAKE + "/value=arg1:bytes/", "--", *COMMAND)
    recording.check()
    total = sum(range(CALLS))
    assert "1000 %s, together 488 KiB" % TAKE in recording.read("report")
    assert sum(stack["value"] for stack in recording.report()["stacks"]) == total
    lines = [line.split(",") for line in recording.read("report", "--csv").splitlines()[1:]]
    assert sorted(int(line[2]) for line in lines) == [sum(range(250)), total - sum(range(250))], lines
    assert "488 KiB" in recording.read("report"), recording.script
    callers = {names_of(event)[1]: 0 for event in recording.events()}
    for event in recording.events():
        callers[names_of(event)[1]] += event.value
    assert callers == {"call_low": sum(range(250)), "call_high": total - sum(range(250))}, callers


def test_conditions_and_their_complements_add_up():
    pairs = (
        ("arg1<100", "arg1>=100", 100),
        ("arg1<=100", "arg1>100", 101),
        ("arg1==7", "arg1!=7", 1),
        ("arg2:s32<-899", "arg2:s32>=-899", 100),
        ("arg1<10||arg1>=990&&arg3<2985", "arg1>=10&&arg1<990||arg1>=10&&arg3>=2985", 15),
        ("comm~known_*", "comm!~known_*", CALLS),
        ("uid==%d" % os.getuid(), "uid!=%d" % os.getuid(), CALLS),
        ("pid==1&&tid==1", "pid!=1||tid!=1", 0),
    )
    for condition, complement, count in pairs:
        meets, fails = (recorded_or_none("%s/value=arg1,if=%s/" % (TAKE, text)) for text in (condition, complement))
        assert len(meets) == count, (condition, len(meets))
        assert sorted(meets + fails) == list(range(CALLS)), (condition, complement)


def test_the_ledger_counts_what_does_not_meet_the_conditions():
    needs_functions()
    for options, unmet in ((["--count-unmet"], [str(CALLS - 100 + CALLS // 10)]), ([], [])):
        recording = record(*options, "-e", "%s/if=arg1<100/,%s/if=ret:s32<0/" % (TAKE, TEN), "--", *COMMAND)
        assert recording.check()["recorded"] == 100 + CALLS - CALLS // 10, recording.messages
        assert UNMET.findall(recording.messages) == UNMET.findall(recording.read("report")) == unmet, recording.messages
    none = record("-e", "%s/if=arg1<-1/" % TAKE, "--", *COMMAND)
    assert "%s that met its conditions" % TAKE in none.messages, none.messages


def test_the_windows_of_a_rotation_count_this_once_together():
    needs_functions()
    stackmap("record", "--count-unmet", "-o", "w.data", "--rotate", "1s", "-e", "%s/if=arg1<100/" % TAKE, "--", "sh", "-c",
             "for i in 1 2 3; do %s; sleep 1; done" % " ".join(map(str, COMMAND)))
    counts = [int(count) for name in os.listdir(".") for count in UNMET.findall(Recording(name, is_window=True).read("report"))]
    assert len(counts) > 1 and sum(counts) == 3 * (CALLS - 100), counts


def recorded_or_none(word):
    """A recording without events is no error, but its reader says so."""
    needs_functions()
    recording = record("-e", word, "--", *COMMAND)
    ledger = recording.check()
    assert ledger["recorded"] == ledger["produced"], ledger
    return [event.value for event in recording.events()] if ledger["recorded"] else []


def test_stacks_are_those_of_the_events_that_pass():
    needs_functions()
    recording = record("-e", TAKE + "/if=arg1<250/", "--", *COMMAND)
    recording.check()
    callers = {names_of(event)[1] for event in recording.events()}
    assert callers == {"call_low"}, callers


def test_each_source_has_its_own_question():
    needs_functions()
    recording = record("-e", "%s/value=arg3,if=arg1<5/,%s/if=ret>=400/,%s" % (TAKE, TAKEN, TEN), "--", *COMMAND)
    recording.check()
    found = {}
    for event in recording.events():
        found.setdefault(event.name, []).append(event.value)
    assert found[TAKE] == [0, 3, 6, 9, 12] and found[TAKEN] == [0] * 100 and found[TEN] == [0] * CALLS, \
        {name: len(values) for name, values in found.items()}


def test_an_argument_of_a_system_call():
    command = ["sh", "-c", "exec >/dev/null; echo four; echo twelve bytes; echo 1"]
    assert recorded(WRITE + "/value=count:bytes,if=count>2&&fd==1/", command) == [5, 13]
    assert recorded(WRITTEN + "/value=ret,if=ret==13||ret<3/", command) == [13, 2]


def test_a_failed_system_call():
    command = ["dd", "if=/dev/zero", "of=/dev/full", "bs=1000", "count=1", "status=none"]
    needs_functions()
    recording = record("-e", WRITTEN + "/if=ret<0/", "--", *command, status=1)
    assert recording.check()["recorded"] == 1, recording.script


def test_a_field_of_a_record():
    needs("tracefs", "perf events")
    assert recorded(ADJUST + "/if=oom_score_adj>=250/", SET) == [0, 0]
    assert recorded(ADJUST + "/value=oom_score_adj,if=oom_score_adj<=250/", SET) == [250, 7]


def test_a_tracepoint_by_its_task():
    """Without a number of the record it stays a raw tracepoint."""
    command = ["sh", "-c", "/bin/true; /bin/false; /bin/true; :"]
    assert len(recorded(EXEC + "/if=comm~true/", command)) == 2
    assert len(recorded(EXEC + "/if=comm!~true&&comm!~sh/", command)) == 1


def test_pid_is_the_task_and_args_pid_the_field():
    needs("tracefs", "perf events")
    values = recorded(EXEC + "/value=pid,if=args.pid>0&&pid>0/", ["sh", "-c", "/bin/true; :"])
    assert len(values) == 2 and all(values), values
    assert len(recorded("%s/value=pid,if=args.pid==%d||args.old_pid>0/" % (EXEC, os.getpid()), ["true"])) == 1


def test_samples_by_their_task():
    needs("perf events")
    command = ["sh", "-c", "perl -e '1 for 1..3e6'; awk 'BEGIN { while (i++ < 3e6); }'"]
    recording = record("-F", "997", "-e", "cpu-clock/if=comm~perl/", "--", *command)
    recording.check()
    assert {line.comm for line in recording.ids()} == {"perl"}, recording.script


def refused(word, *, says):
    done = stackmap("record", "-o", "no.data", "-e", word, "--", "true", status=None)
    assert done.returncode and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr
    assert not os.path.exists("no.data")


def test_what_cannot_be_asked_is_refused():
    refused(TAKE + "/value=ret/", says="the entry of a function has arg1 to arg6")
    refused(TAKE + "/value=arg0/", says="no number arg0; the entry of a function has arg1 to arg6")
    refused(TAKE + "/value=arg7/", says="the entry of a function has arg1 to arg6")
    refused(TAKEN + "/if=arg1>1/", says="the return of a function has ret")
    refused(TAKE + "+4/value=arg1/", says="arguments are known at the first instruction of a function")
    refused(TAKE + "/value=arg1", says="a slash is missing at the end")
    refused(TAKE + "/if=arg1=1/", says="bad condition arg1=1; expected NAME OP NUMBER")
    refused(TAKE + "/if=arg1>1,if=arg1<9/", says="expected one value=NUMBER and one if=CONDITIONS")
    refused(TAKE + "/if=arg1:s8>128/", says="arg1 is a number of 8 bits with a sign, and never 128")
    refused(TAKE + "/if=pid<-1/", says="pid is a number of 32 bits without a sign, and never -1")
    refused(TAKE + "/if=comm~sixteen-bytes-*are/", says="the name of a task has 15 bytes at most")
    refused("page-faults/if=address>1/", says="it has no number address; only tracepoints")
    refused("offcpu-time/if=pid==1/", says="its value is a time, and it takes no conditions")
    refused("%s/if=oom_score/" % ADJUST, says="bad condition oom_score")
    refused("%s,%s/if=comm~x/" % (TAKE, TAKE), says="already, with another value or condition, or none")


def test_an_instance_asks_the_same():
    needs_functions()
    fresh_bpffs()
    stackmap("start", "live", "-e", TAKE + "/value=arg1,if=arg1>=990&&comm~known*/", "--flight", "1M")
    run(*COMMAND)
    recording = record("--instance", "live")
    recording.check()
    stackmap("stop", "live")
    assert [event.value for event in recording.events()] == list(range(990, CALLS)), recording.script


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
