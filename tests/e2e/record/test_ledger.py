#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Real programs, sampled: every event is accounted for, in calm and when the rings overflow, and the command's exit
status comes through."""

import collections
import json
import os

from harness.cases import main, needs, needs_command, one_of_several, program, stackmap
from harness.recorder import sources
from harness.recording import Recording, kernel_frames, names_of, record, user_frames
from harness.waiting import read_text

SOURCE = "\n".join("int f%d(int x) { return x * %d + (x >> %d); }" % (i, i, i % 30) for i in range(400))


def sample(*command):
    """Samples a command; its ledger balances and nothing is lost."""
    needs("bpf", "perf events")
    recording = record("-F", 999, "--", *command)
    ledger = recording.check()
    assert ledger["recorded"] > 0 and not any(ledger["lost"].values()), ledger
    for event in recording.events():
        assert event.name in ("cpu-clock", "cycles") and (kernel_frames(event) or user_frames(event)), event
    return recording


def names_in(recording):
    return {frame.name.split("+0x")[0] for event in recording.events() for frame in event.frames}


def compile_with(compiler):
    needs_command(compiler, "--version")
    with open("source.c", "w", encoding="ascii") as file:
        file.write(SOURCE)
    comms = {event.comm for event in sample(compiler, "-O2", "-c", "source.c").events()}
    assert any(comm == "cc1" or comm.startswith("clang") for comm in comms), comms


@one_of_several
def test_gcc():
    compile_with("gcc")


@one_of_several
def test_clang():
    compile_with("clang")


@one_of_several
def test_dd():
    names = names_in(sample("dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=3000", "status=none"))
    assert any("read_zero" in name or "read_iter_zero" in name for name in names), names


@one_of_several
def test_tar():
    assert names_in(sample("tar", "cf", "all.tar", "/usr/include/linux"))


@one_of_several
def test_python():
    names = names_in(sample("python3", "-c", "sum(i * i for i in range(3000000))"))
    assert any("Py" in name for name in names), names


@one_of_several
def test_static_program():
    names = names_in(sample(program("known_counts_static"), "calls=100000000"))
    assert {"counted", "call", "main"} <= names, names


@one_of_several
def test_perf_bench():
    needs_command("perf", "bench", "sched", "pipe", "-l", "10")
    names = names_in(sample("perf", "bench", "sched", "pipe", "-l", "20000"))
    assert "schedule" in names, names


def test_ring_overflow():
    """So many events that most find the ring full: each is in the ledger all the same."""
    needs("bpf", "uprobes")
    workload = program("known_counts")
    recording = record("--ring", "4K", "-e", "u:%s:counted" % workload, "--", workload, "calls=300000")
    ledger = recording.check()
    assert ledger["produced"] == 300000 and ledger["counted_only"] > 0, ledger
    assert ledger["recorded"] > 0 and "counted only" in recording.messages, recording.messages


def sums_by_stack(recording):
    """(event, comm, innermost user functions) -> count and sum of values"""
    sums = collections.defaultdict(lambda: [0, 0])
    for stack in recording.report()["stacks"]:
        key = stack["event"], stack["comm"], tuple(stack["user"][:2])
        sums[key][0] += stack["count"]
        sums[key][1] += stack["value"]
    return sums


def test_stopped_reader():
    """While the reader is stopped, events fill the rings many times over: the sums at the stacks are those of the programs."""
    needs("bpf", "uprobes", "tracefs")
    workload = program("known_counts")
    write = "syscalls:sys_enter_write"
    command = ("dd bs=7 count=10 status=none if=/dev/zero of=/dev/null; kill -STOP $PPID; %s calls=20000 getppid=20000;"
               "dd bs=7 count=20000 status=none if=/dev/zero of=/dev/null; kill -CONT $PPID" % workload)
    recording = record("--ring", "64K", "-e", "u:%s:counted" % workload, "-e", "syscalls:sys_enter_getppid",
                       "-e", write + "/value=count:bytes/", "--", "sh", "-c", command)
    ledger = recording.check()
    assert ledger["counted_only"] > 50000 > 6000 > ledger["recorded"] > 0 and not any(ledger["lost"].values()), ledger
    sums = sums_by_stack(recording)
    found = {event: sum(count for (name, comm, _), (count, _) in sums.items() if name == event and comm == "known_counts")
             for event in ("u:%s:counted" % workload, "syscalls:sys_enter_getppid")}
    assert set(found.values()) == {20000}, found
    whole = sums["u:%s:counted" % workload, "known_counts", ("counted", "call")][0]
    assert 19990 <= whole <= 20000, sums  # the first events may have waited for a deferred stack
    dd = [number for (name, comm, _), number in sums.items() if (name, comm) == (write, "dd")]
    assert [sum(each) for each in zip(*dd)] == [20010, 7 * 20010], dd
    check_counted_views(recording, ledger)


def check_counted_views(recording, ledger):
    """Events that are counted only are in sums and not at a time, in every view, and a merge keeps them."""
    events = recording.events()
    counted = [event for event in events if event.time is None]
    assert sum(event.times for event in counted) == ledger["counted_only"], ledger
    last = max(event.time for event in events if event.time is not None)
    part = json.loads(stackmap("report", "--json", "--time", "0,%f" % (last + 1), recording.path).stdout)
    assert sum(stack["count"] for stack in part["stacks"]) == ledger["recorded"], ledger
    folded = stackmap("export", "-f", "folded", recording.path).stdout
    assert sum(int(line.rsplit(" ", 1)[1]) for line in folded.splitlines()) >= ledger["counted_only"], folded[-300:]
    stackmap("flamegraph", "-o", "page.html", recording.path)
    with open("page.html", encoding="ascii") as file:
        data = json.loads(file.read().split('id="data">')[1].split("</script>")[0])
    (cells,) = data["cells"]
    timed = len(cells["bucket"])
    assert sum(cells["count"][:timed]) == ledger["recorded"], ledger
    assert sum(cells["count"][timed:]) == ledger["counted_only"] == data["recordings"][0]["counted"], ledger
    stackmap("merge", "-o", "merged.data", recording.path, recording.path)
    merged = Recording("merged.data").check()
    assert merged["counted_only"] == 2 * ledger["counted_only"], merged


def test_each_source_accounts_for_its_own_events():
    """Where a source may have two values, events that find the ring full are lost. Two sources of known numbers of events."""
    needs("bpf", "uprobes", "tracefs")
    workload = program("known_counts")
    counted, taken = "u:%s:counted" % workload, "u:%s:take" % workload
    command = "kill -STOP $PPID; taskset -c 0 %s calls=20000 arguments=5000; kill -CONT $PPID" % workload  # all in one ring
    recording = record("--ring", "64K", "-e", counted, "-e", taken + "/values=arg1:one,arg2:two/", "--", "sh", "-c", command)
    ledger = recording.check()
    sources = {source["event"]: source for source in ledger["sources"]}
    assert {name: source["recorded"] + source["lost"] for name, source in sources.items()} == {counted: 20000, taken: 5000}, ledger
    assert sources[counted]["lost"] > 15000 and sources[taken]["lost"] == 5000, ledger
    assert ledger["lost"]["ring_full"] == sum(source["lost"] for source in sources.values()), ledger
    assert "# ledger:   lost of %s: %d\n" % (taken, 5000) in recording.read("report"), ledger


def test_each_window_has_its_own_losses():
    """The windows of one recording together have the losses of each source once."""
    needs("bpf", "uprobes", "tracefs")
    workload = program("known_counts")
    counted, taken = "u:%s:counted" % workload, "u:%s:take" % workload
    command = "for i in 1 2 3; do kill -STOP $PPID; %s calls=9000 arguments=1000; kill -CONT $PPID; sleep 1; done" % workload
    stackmap("record", "-o", "w.data", "--ring", "64K", "--rotate", "1s", "-e", counted, "-e", taken + "/values=arg1:one,arg2:two/", "--",
             "sh", "-c", command)
    found, lost = collections.Counter(), 0
    for name in sorted(os.listdir(".")):
        ledger = Recording(name, is_window=True).check()
        lost += ledger["lost"]["ring_full"]
        for source in ledger["sources"]:
            found[source["event"]] += source["recorded"] + source["lost"]
            lost -= source["lost"]
    assert found == {counted: 27000, taken: 3000} and lost == 0, (found, lost)


def test_more_stacks_than_are_counted():
    """Only so many stacks are counted for each CPU (abi/counted.h). Events of further stacks are lost, and the ledger balances."""
    needs("bpf", "uprobes")
    workload = program("call_paths")
    paths = 10000
    command = "kill -STOP $PPID; taskset -c 0 %s %d 1; kill -CONT $PPID" % (workload, paths)
    recording = record("--ring", "64K", "-e", "u:%s:leaf" % workload, "--", "sh", "-c", command)
    ledger = recording.check()
    assert ledger["produced"] == paths and 3000 < ledger["counted_only"] <= 4096, ledger
    assert ledger["lost"]["ring_full"] == paths - ledger["recorded"] - ledger["counted_only"] > 0, ledger


def test_flight_overflow():
    needs("bpf", "uprobes")
    workload = program("known_counts")
    for size in ("1M", "4M"):
        recording = record("--flight", size, "--bits", 10, "-e", "u:%s:counted" % workload, "--",
                           workload, "calls=250000")
        ledger = recording.check()
        assert ledger["produced"] == 250000 == ledger["recorded"] + ledger["lost"]["overwritten"], ledger


def test_exit_status():
    needs("bpf", "perf events")
    for script, status in (("exit 0", 0), ("exit 7", 7), ("exit 255", 255), ("kill -TERM $$", 143),
                           ("kill -KILL $$", 137), ("kill -SEGV $$", 139)):
        record("-F", 99, "--", "sh", "-c", script, status=status).check()


def test_command_that_cannot_run():
    needs("bpf", "perf events")
    with open("text", "w", encoding="ascii") as file:
        file.write("not a program\n")
    with open("bad", "w", encoding="ascii") as file:
        file.write("#!/no/such/interpreter\n")
    os.chmod("bad", 0o755)
    for command in ("no-such-command", "./text", "./bad", "/"):
        done = stackmap("record", "-o", "f.data", "--", command, status=1)
        assert done.stderr.startswith("stackmap: %s: " % command) and done.stderr.count("\n") == 1, done.stderr
        assert sorted(os.listdir(".")) == ["bad", "text"], (command, os.listdir("."))


COUNT_SOFT_INTERRUPTS = """
count() { awk '/^softirq/ { print $2 }' /proc/stat; }
before=$(count)
for i in 1 2 3; do git --version; python3 -c 'import json, decimal, asyncio'; perl -e 1; done >/dev/null
echo $(($(count) - before)) >counted
"""


@one_of_several
def test_interrupts_of_the_recorder():
    """The recorder works hardest while a command begins. What interrupts it then is recorded."""
    needs("bpf", "raw tracepoints", "tracefs")
    recording = record("-a", *sources("irq:softirq_entry"), "--", "sh", "-c", COUNT_SOFT_INTERRUPTS)
    ledger = recording.check()
    counted, recorded = int(read_text("counted")), len(recording.events())
    assert recorded + ledger["lost"].get("recursion", 0) >= counted * 0.95, (recorded, counted, ledger)
    interrupted = [event for event in recording.events() if event.comm == "interrupt"]
    assert interrupted and all(event.tid == 0 for event in interrupted)
    assert not any(names_of(event) for event in interrupted)


@one_of_several
def test_tracepoints_that_interrupt_each_other():
    """Of one category: the second one interrupts the program of the first."""
    needs("bpf", "raw tracepoints", "tracefs")
    recording = record("-a", *sources("irq:softirq_raise", "irq:softirq_entry", "irq:softirq_exit"), "--", "sh", "-c",
                       "for i in 1 2 3; do git --version; python3 -c 'import json'; done >/dev/null")
    ledger = recording.check()
    assert not ledger["lost"].get("recursion"), ledger
    count = collections.Counter(event.name for event in recording.events())
    assert abs(count["irq:softirq_entry"] - count["irq:softirq_exit"]) <= os.cpu_count(), count


main(globals())
