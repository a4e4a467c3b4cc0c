#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Events by a value: a field of a tracepoint's record, an argument or the result of a system call, whose sums are known
in advance. Beside it the stacks and the account are those of the same event without a value."""

import json
import os
import re
import subprocess

from harness.cases import main, needs, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.file_sums import FileSums
from harness.recording import function, kernel_frames, record

WRITE, WRITTEN = "syscalls:sys_enter_write", "syscalls:sys_exit_write"
COPY = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1000", "count=100", "status=none"]

# oom_score_adj: a number up to 1000 that a process sets, in a field of 16 bits.
ADJUST, EXEC, KMALLOC = "oom:oom_score_adj_update", "sched:sched_process_exec", "kmem:kmalloc"
SET = ["sh", "-c", "for score in 250 1000 7; do echo $score >/proc/self/oom_score_adj; done"]


def values(recording, name):
    return [event.value for event in recording.events() if event.name == name]


def needs_values():
    needs("bpf", "perf events", "raw tracepoints", "tracefs")


def recorded(*arguments, **options):
    """A recording without losses."""
    needs_values()
    recording = record(*arguments, **options)
    ledger = recording.check()
    assert ledger["recorded"] == ledger["produced"], ledger
    return recording


def told(recording, name):
    """The line about an event in the head of the report."""
    lines = [line for line in recording.read("report").splitlines() if line.startswith("# events:") and name in line]
    return " ".join(line.split(":", 1)[1].strip() for line in lines)


def test_argument_of_a_system_call():
    recording = recorded("-e", WRITE + "/value=count:bytes/", "--", *COPY)
    assert values(recording, WRITE) == [1000] * 100
    assert told(recording, WRITE) == "100 %s, together 97.7 KiB" % WRITE
    assert sum(stack["value"] for stack in recording.report()["stacks"]) == 100000


def test_each_argument_is_its_own():
    """The call beside it has none, and one call has two events."""
    recording = recorded("-e", "%s/value=fd/,%s/value=ret/,syscalls:sys_enter_openat" % (WRITE, WRITTEN), "--",
                         "sh", "-c", "exec >/dev/null; echo four; echo twelve bytes")
    assert values(recording, WRITE) == [1, 1] and values(recording, WRITTEN) == [5, 13], recording.script
    assert set(values(recording, "syscalls:sys_enter_openat")) == {0}
    assert "together 18 ret" in told(recording, WRITTEN) and "together 2 fd" in told(recording, WRITE)


def test_an_error_code_is_no_value():
    recording = recorded("-e", WRITTEN + "/value=ret:bytes/", "--", "dd", "if=/dev/zero", "of=/dev/full", "bs=1000",
                         "count=1", "status=none", status=1)
    assert 0 in values(recording, WRITTEN) and max(values(recording, WRITTEN)) < 1000, recording.script


def test_half_a_register():
    """AT_FDCWD is -100 as an int, and 4294967196 as what programs leave in the register."""
    name = "syscalls:sys_enter_openat"
    recording = recorded("-e", name + "/value=dfd/", "--", "cat", "/dev/null")
    assert values(recording, name) and not any(values(recording, name)), recording.script


def test_field_of_a_record():
    recording = recorded("-e", ADJUST + "/value=oom_score_adj:points/", "--", *SET)
    assert values(recording, ADJUST) == [250, 1000, 7], recording.script
    assert "together 1257 points" in told(recording, ADJUST)


def test_a_negative_number_is_no_value():
    """-1: memory of any node."""
    needs_values()
    recording = record("-e", KMALLOC + "/value=node/", "--", "ls", "-lR", "/etc/ssl")
    recording.check()
    assert values(recording, KMALLOC) and max(values(recording, KMALLOC)) < 1024, recording.script


def test_fields_of_several_records():
    """A glob, a field of another size, and an event without a value in one argument."""
    recording = recorded("-e", "oom:oom_score_*/value=oom_score_adj/,%s/value=pid/,sched:sched_process_exit" % EXEC, "--",
                         *SET[:2], SET[2] + "; /bin/true")
    assert values(recording, ADJUST) == [250, 1000, 7], recording.script
    assert values(recording, EXEC) == [event.tid for event in recording.events() if event.name == EXEC]
    assert len(values(recording, EXEC)) == 2 and set(values(recording, "sched:sched_process_exit")) == {0}


def further(recording):
    """The further value of each event and its unit, as script prints them behind the name."""
    return [line.rsplit(" and ", 1)[1].split() for line in recording.script.splitlines() if " and " in line and not line.startswith("\t")]


def test_two_fields_of_a_record():
    """The first one weighs; --value chooses the other one, by its number or unit, in all that adds up."""
    recording = recorded("-e", WRITE + "/values=count:bytes,fd/", "--", *COPY)
    assert values(recording, WRITE) == [1000] * 100
    assert further(recording) == [["1", "fd"]] * 100, recording.script
    assert sum(stack["value"] for stack in recording.report()["stacks"]) == 100000
    events = FileSums(recording.path).file.events  # by the independent reader: ..., value, times, (trace, span, further)
    assert sum(event[7] for event in events) == 100000 and sum(int(event[9][2]) for event in events) == 100
    for choice in "2", "fd":
        chosen = json.loads(recording.read("report", "--json", "--value", choice))
        assert sum(stack["value"] for stack in chosen["stacks"]) == 100, chosen
        folded = recording.read("export", "-f", "folded", "--by", "value", "--value", choice)
        assert sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) == 100, folded
    assert "100 %s, together 100 fd" % WRITE in recording.read("report", "--value", "fd")
    for choice, total in ("count", 100000), ("fd", 100):
        sides = recording.read("diff", "--json", "--noise", "--value", choice, recording.path)
        assert sum(row["before"]["value"] for row in json.loads(sides)["rows"]) == total, sides
    with subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1000", "status=none"]) as writer:
        live = stackmap("top", "-b", "-n", "1", "-d", "1", "--pid", writer.pid, "-e", WRITE + "/values=count:bytes,fd/", "--value", "fd").stdout
        writer.kill()
    assert re.search(r"\b[1-9]\d* fd in .*" + WRITE, live), live
    swapped = recording.read("script", "--value", "2")
    assert swapped.count(" and 1000 bytes") == 100, swapped
    wrong = stackmap("report", "--value", "pages", recording.path, status=1)
    assert wrong.stderr.count("\n") == 1 and "no event of" in wrong.stderr, wrong.stderr


def test_other_events_have_no_second_value():
    """Slots of events are used again, so that an earlier second value may lie where these events have none."""
    recording = recorded("-e", WRITE + "/values=count:bytes,fd/,offcpu-time", "--", "sh", "-c",
                         "for i in 1 2 3 4 5 6 7 8 9; do echo $i; sleep 0.01; done")
    events = FileSums(recording.path).file.events
    names = [event.name for event in recording.events()]
    assert len(names) == len(events) and names.count("offcpu-time") > 9, names
    second = [int(event[9][2]) for event in events]
    assert sum(second) == names.count(WRITE), (second, names)


def test_two_arguments_of_a_function():
    """Blocks of 1000 bytes, copied 100 times: write(1, buffer, 1000). Conditions and samples stay what they are."""
    needs("uprobes")
    libc = "u:libc.so.6:write/values=arg3:bytes,arg1*arg3:product,if=arg3==1000/"
    recording = recorded("-e", libc + ",cpu-clock," + WRITE + "/value=fd/", "--trace-ids", "--", *COPY)
    name = [event.name for event in recording.events() if ":write" in event.name][0]
    assert values(recording, name) == [1000] * 100
    assert further(recording).count(["1000", "product"]) == 100, recording.script
    assert values(recording, WRITE) == [1] * 100


def test_two_values_have_limits():
    needs_values()
    refused(WRITE + "/values=count/", says="two of them")
    refused(WRITE + "/values=count,fd,buf/", says="expected one value=NUMBER and one if=CONDITIONS, or values=NUMBER,NUMBER")
    refused("span:k:vfs_read..kr:vfs_read/by=tid,values=count,pos/", says="the value of a span is its time")
    refused("alive:ur:libc.so.6:malloc..u:libc.so.6:free/by=ret:arg1,values=arg1,arg2/", says="has one value: value=NUMBER")
    done = stackmap("agent", "--to", "http://127.0.0.1:9", "--spool", "spool", "--once", "1", "-e", WRITE + "/values=count:bytes,fd/", status=2)
    assert "what an agent sends has one value of an event: value=A" in done.stderr, done.stderr


def test_samples_beside_values():
    recording = record("-e", ADJUST + "/value=oom_score_adj/,cpu-clock", "--", *SET)
    recording.check()
    assert values(recording, ADJUST) == [250, 1000, 7], recording.script
    assert not any(values(recording, "cpu-clock"))


def kernel_stacks(recording):
    return [tuple(frame.address for frame in kernel_frames(event)) for event in recording.events()]


def test_stacks_are_the_same_as_without():
    for name, field in (ADJUST, "oom_score_adj"), (EXEC, "pid"):
        plain = recorded("-e", name, "--", *SET)
        valued = recorded("-e", "%s/value=%s/" % (name, field), "--", *SET)
        assert kernel_stacks(valued) == kernel_stacks(plain), (valued.script, plain.script)
        assert [event.frames[-1].name for event in valued.events()] == [event.frames[-1].name for event in plain.events()]
    plain = record("-e", KMALLOC, "--", "ls", "-lR", "/etc/ssl")
    valued = record("-e", KMALLOC + "/value=bytes_alloc/", "--", "ls", "-lR", "/etc/ssl")
    first = [{function(event.frames[0]) for event in recording.events()} for recording in (plain, valued)]
    assert first[0] & first[1] and all("malloc" in name for name in first[0] | first[1]), first


def loses(word):
    """Whether a recording has events that were skipped: as a rule the kernel has the memory at hand."""
    ledger = record("-e", word, "--", "ls", "-lR", "/etc/ssl").check()
    assert ledger["recorded"] > 100, ledger
    assert set(cause for cause, count in ledger["lost"].items() if count) <= {"recursion"}, ledger
    return ledger["lost"]["recursion"] > 0


def test_skipped_events_are_lost():
    """The kernel allocates memory for programs while they run. It does not run them for that, nor those of perf's way."""
    needs_values()
    plain, valued = [], []
    while len(plain) < 10 and not (any(plain) and any(valued)):
        plain.append(loses(KMALLOC))
        valued.append(loses(KMALLOC + "/value=bytes_alloc/"))
    assert sum(plain) < 8 or any(valued), (plain, valued)


def refused(word, *, says):
    done = stackmap("record", "-o", "f.data", "-e", word, "--", "true", status=None)
    assert done.returncode and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr
    assert os.listdir(".") == []


def test_what_has_no_such_field_is_refused():
    needs_values()
    refused("raw_syscalls:sys_exit/value=ret/", says="what it loses is not known")
    refused(KMALLOC + "/value=bytes/", says="kmem:kmalloc has no number bytes; its fields are call_site, ptr, bytes_req, ")
    refused("kmem:k*/value=bytes_alloc/", says="kmem:kfree has no number bytes_alloc")
    refused(WRITE + "/value=ret/", says="its fields are fd, buf, count")
    refused(EXEC + "/value=filename/", says="its fields are pid, old_pid")
    refused(KMALLOC + "/value=bytes_alloc", says="expected CATEGORY:NAME/value=FIELD/ or CATEGORY:NAME/if=CONDITIONS/")
    refused("page-faults/value=address/", says="it has no number address; only tracepoints, system calls")
    refused("%s,%s/value=bytes_alloc/" % (KMALLOC, KMALLOC), says="already, with another value or condition, or none")


def read_instance(*sources):
    needs_values()
    fresh_bpffs()
    stackmap("start", "live", *sources, "--comm", "writer", "--flight", "1M")
    os.symlink("/bin/sh", "writer")
    run("./writer", "-c", SET[2])
    recording = record("--instance", "live")
    recording.check()
    stackmap("stop", "live")
    return recording


def test_instance():
    recording = read_instance("-e", ADJUST + "/value=oom_score_adj:points/", "-e", WRITE + "/value=count/")
    assert values(recording, ADJUST) == [250, 1000, 7], recording.script
    assert values(recording, WRITE) == [4, 5, 2], recording.script
    assert "together 1257 points" in told(recording, ADJUST)


def test_instance_of_blocked_tasks():
    """Its readers know the unit."""
    recording = read_instance("--off-cpu", "-e", ADJUST + "/value=oom_score_adj/")
    assert values(recording, ADJUST) == [250, 1000, 7], recording.script


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
