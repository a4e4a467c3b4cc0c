#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How `record` behaves as a command: signals, the file it leaves, what it prints where."""

import os
import re
import stat

from harness.cases import STACKMAP, main, needs, program, run, stackmap
from harness.engine_folder import enter_own_mounts
from harness.recording import Recording, record

WORKLOAD = program("known_counts")
SOURCE = ["-e", "u:%s:counted" % WORKLOAD]


def test_signals_finish_the_file():
    """The recorder ends, its command with it, and the file is whole."""
    needs("bpf", "uprobes")
    for signal in ("INT", "TERM"):
        for mode in ([], ["--flight", "8M"]):
            script = "%s calls=3000; kill -%s $PPID; exec sleep 100" % (WORKLOAD, signal)
            stackmap("record", "-o", "f.data", *mode, *SOURCE, "--", "sh", "-c", script, status=None)
            assert Recording("f.data").check()["recorded"] == 3000


def test_signal_without_a_command():
    needs("bpf", "uprobes")
    script = "%s record -q -o f.data -a %s & pid=$!; until [ -e f.data ]; do sleep 0.01; done; %s calls=10; kill -INT $pid; wait $pid"
    done = run("sh", "-c", script % (STACKMAP, " ".join(SOURCE), WORKLOAD))
    assert not done.stderr and Recording("f.data").check()["recorded"] <= 10


def test_file_is_private_and_older_one_kept():
    needs("bpf", "uprobes")
    os.umask(0)
    for calls in (10, 20, 30):
        record(*SOURCE, "--", WORKLOAD, "calls=%d" % calls)
    assert [Recording(path).check()["recorded"] for path in ("f.data", "f.data.old")] == [30, 20]
    for path in ("f.data", "f.data.old"):
        assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    assert sorted(os.listdir(".")) == ["f.data", "f.data.bin", "f.data.old", "f.data.old.bin"], os.listdir(".")


def test_default_name():
    needs("bpf", "uprobes")
    stackmap("record", *SOURCE, "--", WORKLOAD, "calls=5")
    assert os.listdir(".") == ["stackmap.data"]
    assert "5 events = 5 recorded + 0 lost" in stackmap("report").stdout


def test_a_low_limit_of_the_kernel_lowers_the_default_rate():
    """The kernel lowers it where samples take too long; a rate that somebody asks for is refused above it."""
    needs("bpf", "perf events")
    enter_own_mounts()
    limit = "/proc/sys/kernel/perf_event_max_sample_rate"
    with open("rate", "w") as file:
        file.write("500\n")
    run("mount", "--bind", "rate", limit)
    try:
        recording = record("--", WORKLOAD, "calls=5")
        assert re.search(r"^# rate: +500 Hz$", recording.read("report"), re.MULTILINE)
        assert "perf_event_max_sample_rate" in stackmap("record", "-F", "501", "--", "true", status=None).stderr
    finally:
        run("umount", limit)


def test_counts_of_user_stacks():
    """Each stack was unwound at the event, or left for later, by cause."""
    needs("bpf", "uprobes", "BPF task work")
    done = stackmap("record", "-v", "-o", "f.data", *SOURCE, "--", WORKLOAD, "calls=3000")
    counts = {name: int(count) for name, count in re.findall(r"^stackmap: (user_\w+): (\d+)$", done.stderr, re.MULTILINE)}
    table_frames = counts.pop("user_table_frames")
    assert 0 < counts.pop("user_mapping_walks") < 3000, done.stderr
    assert counts["user_walked"] > 2000 and sum(counts.values()) == 3000 and table_frames < 3000, done.stderr


def test_standard_output():
    needs("bpf", "uprobes")
    script = '"$1" record -o - %s -- %s calls=40 >f.data' % (" ".join(SOURCE), WORKLOAD)
    run("sh", "-c", script, "sh", STACKMAP)
    assert Recording("f.data").check()["recorded"] == 40


def test_piped_output_is_plain():
    """No progress, no colours, no other control bytes, also where a terminal would have them."""
    needs("bpf", "uprobes")
    recording = record(*SOURCE, "--", WORKLOAD, "calls=100000")
    texts = [recording.messages, recording.read("report"), recording.read("report", "--tree"),
             recording.read("script"), stackmap("list").stdout, stackmap("doctor", status=None).stdout]
    for text in texts:
        assert all(byte in "\t\n" or byte >= " " for byte in text), repr(text[:300])
    lines = recording.messages.splitlines()
    assert lines and all(line.startswith("stackmap: ") for line in lines), lines
    assert any("100000 events = 100000 recorded + 0 lost" in line for line in lines), lines


def test_quiet():
    needs("bpf", "uprobes")
    assert record("-q", *SOURCE, "--", WORKLOAD, "calls=10").messages == ""


def test_output_of_the_command_is_its_own():
    needs("bpf", "perf events")
    done = stackmap("record", "-q", "-F", 99, "-o", "f.data", "--", "sh", "-c", "echo out; echo err >&2")
    assert (done.stdout, done.stderr) == ("out\n", "err\n")


def test_signal_mask_of_the_command():
    """Signals that the recorder blocks are not blocked in its command."""
    needs("bpf", "perf events")
    done = stackmap("record", "-q", "-F", 99, "-o", "f.data", "--", "grep", "SigBlk", "/proc/self/status")
    assert int(done.stdout.split()[1], 16) == 0, done.stdout


main(globals())
