#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Real programs, sampled: every event is accounted for, in calm and when the rings overflow, and the command's exit
status comes through."""

import os

from harness.cases import main, needs, needs_command, program, stackmap
from harness.recording import kernel_frames, record, user_frames

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


def test_gcc():
    compile_with("gcc")


def test_clang():
    compile_with("clang")


def test_dd():
    names = names_in(sample("dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "count=3000", "status=none"))
    assert any("read_zero" in name or "read_iter_zero" in name for name in names), names


def test_tar():
    assert names_in(sample("tar", "cf", "all.tar", "/usr/include/linux"))


def test_python():
    names = names_in(sample("python3", "-c", "sum(i * i for i in range(3000000))"))
    assert any("Py" in name for name in names), names


def test_static_program():
    names = names_in(sample(program("known_counts_static"), "calls=100000000"))
    assert {"counted", "call", "main"} <= names, names


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
    assert ledger["produced"] == 300000 and ledger["lost"]["ring_full"] > 0, ledger
    assert ledger["recorded"] > 0 and "ring_full" in recording.messages, recording.messages


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


main(globals())
