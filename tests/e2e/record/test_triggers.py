#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Triggers: an event ends a recording or writes a snapshot, at once or later; and recordings that begin at an instant."""

import contextlib
import os
import signal
import subprocess
import time

from harness.cases import STACKMAP, main, needs, needs_command, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.recording import Recording, record

PROGRAM = program("known_counts")
COUNTED = "u:%s:counted" % PROGRAM
NEST = "span:u:%s:nest..ur:%s:nest" % (PROGRAM, PROGRAM)
STOPPED = "an event of --stop-when has happened, the recording ends\n"
ENDED = "an event of --stop-when has happened, the file ends; live goes on\n"
WRITTEN = "an event of --stop-when has happened, the file is written; live goes on\n"


def calls(count):
    return "%s calls=%d" % (PROGRAM, count)


NESTED = "%s nested=1" % PROGRAM


def until(path):
    return "until [ -e %s ]; do sleep 0.01; done" % path


def names(recording):
    return [event.name for event in recording.events()]


def recorder(*words):
    needs("bpf", "raw tracepoints", "uprobes")
    return subprocess.Popen([STACKMAP, "record", "-o", "f.data", *words], stderr=subprocess.PIPE, text=True)


def ended(process):
    """The messages of a recorder up to the one of its file; the command is let go then, and the rest read."""
    lines = []
    for line in process.stderr:
        lines.append(line)
        if " KiB in " in line:
            open("written", "w").close()
    assert process.wait() == 0, lines
    return "".join(lines)


def stopped_by(*words):
    """A recording of 100 calls, a span and, once the file is written, 50 calls more, which it must not have."""
    script = "; ".join([calls(100), NESTED, until("written"), calls(50)])
    messages = ended(recorder(*words, "--", "sh", "-c", script))
    assert STOPPED in messages, messages
    recording = Recording("f.data")
    recording.check()
    return names(recording)


def test_an_event_ends_the_recording():
    assert stopped_by("-e", COUNTED, "--stop-when", NEST) == [COUNTED] * 100 + [NEST]


def test_an_event_that_finds_the_ring_full_ends_the_recording():
    """The recorder is stopped while a CPU's ring fills up. The span is counted only."""
    needs_command("taskset", "-V")
    cpu = min(os.sched_getaffinity(0))
    script = "; ".join(["kill -STOP $PPID", *("taskset -c %d %s" % (cpu, word) for word in (calls(5000), NESTED)),
                        "kill -CONT $PPID", until("written"), calls(50)])
    messages = ended(recorder("-e", COUNTED, "--ring", "64K", "--stop-when", NEST, "--", "sh", "-c", script))
    assert STOPPED in messages, messages
    recording = Recording("f.data")
    ledger = recording.check()
    assert ledger["produced"] == 5001 and ledger["counted_only"] > 1000, ledger
    spans = [stack for stack in recording.report()["stacks"] if stack["event"] == NEST]
    assert sum(stack["count"] for stack in spans) == 1 and not [event for event in recording.events() if event.name == NEST and event.time is not None], spans


def test_an_event_ends_a_flight_recorder():
    assert stopped_by("-e", COUNTED, "--flight", "2M", "--stop-when", NEST) == [COUNTED] * 100 + [NEST]


def test_an_event_that_is_recorded_anyway_is_recorded_once():
    assert stopped_by("-e", COUNTED + "," + NEST, "--stop-when", NEST) == [COUNTED] * 100 + [NEST]


def test_only_events_that_meet_the_conditions_count():
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", COUNTED, "--stop-when", NEST + "/if=time>1000s/", "--stop-when",
                       "syscalls:sys_enter_write/if=count==123456789/", "--", "sh", "-c",
                       "; ".join([calls(100), NESTED, calls(50)]))
    assert recording.check()["recorded"] == 150 and STOPPED not in recording.messages


def test_the_recording_goes_on_for_the_time_after():
    """The command calls until the file is written: the last call is later than the trigger, and as late as the delay but for one call,
    which takes long on a loaded machine."""
    script = "%s; until [ -e written ]; do %s; done" % (NESTED, calls(1))
    messages = ended(recorder("-e", COUNTED, "--stop-when", NEST, "--after", "1s", "--", "sh", "-c", script))
    assert STOPPED in messages, messages
    recording = Recording("f.data")
    recording.check()
    times = [event.time for event in recording.events()]
    assert times[-1] - times[0] >= 0.2 and names(recording).count(NEST) == 1, times


def test_a_time_after_that_does_not_pass():
    needs("bpf", "raw tracepoints", "uprobes")
    recording = record("-e", COUNTED, "--stop-when", NEST, "--after", "10h", "--", "sh", "-c",
                       "; ".join([NESTED, "sleep 0.3", calls(50)]))
    assert recording.check()["recorded"] == 51 and STOPPED not in recording.messages


def test_an_event_of_an_instance_ends_what_is_read_of_it():
    """The instance goes on: a second reader has what came later."""
    needs("bpf", "raw tracepoints", "uprobes")
    fresh_bpffs()
    stackmap("start", "live", "-e", COUNTED + "," + NEST, "--comm", "known_counts")
    wrong = stackmap("record", "--instance", "live", "-o", "f.data", "--stop-when", "page-faults", status=None)
    assert wrong.returncode and "the instance does not record it" in wrong.stderr, wrong.stderr
    process = recorder("--instance", "live", "--stop-when", NEST)
    run(PROGRAM, "calls=100")
    run(PROGRAM, "nested=1")
    assert ENDED in ended(process)
    first = names(Recording("f.data"))
    run(PROGRAM, "calls=50")
    second = record("--instance", "live", "--stop-when", COUNTED, output="g.data")
    stackmap("stop", "live")
    assert first == [COUNTED] * 100 + [NEST], first
    assert ENDED in second.messages and names(second) == [COUNTED] * 50, names(second)


def test_an_event_writes_a_flight_instance():
    """The recorder waits for an event that happens later. The instance can be used meanwhile, and continues."""
    needs("bpf", "raw tracepoints", "uprobes")
    fresh_bpffs()
    stackmap("start", "live", "--flight", "2M", "-e", COUNTED + "," + NEST, "--comm", "known_counts")
    wrong = stackmap("record", "--instance", "live", "-o", "f.data", "--stop-when", "page-faults", status=None)
    assert wrong.returncode and "the instance does not record it" in wrong.stderr, wrong.stderr
    process = recorder("--instance", "live", "--stop-when", NEST)
    run(PROGRAM, "calls=100")
    stackmap("status", "live")
    spans = 0
    while process.poll() is None:
        assert spans < 2000 and (spans or not os.path.exists("f.data")), spans
        run(PROGRAM, "nested=1")
        spans += 1
    assert WRITTEN in ended(process)
    found = names(Recording("f.data"))
    assert found.count(COUNTED) == 100 and 1 <= found.count(NEST) <= spans, (found, spans)
    copy = record("--instance", "live", output="g.data")
    stackmap("stop", "live")
    assert names(copy).count(NEST) + copy.check()["lost"]["paused"] >= spans, names(copy)


def test_each_event_writes_a_snapshot():
    """Each file has what was before it, the last one has all, and there are as many files as events."""
    needs("bpf", "raw tracepoints", "uprobes")
    script = "; ".join([calls(100), NESTED, until("f.data.1"), calls(50), NESTED, until("f.data.2"), calls(7)])
    recording = record("--flight", "8M", "-e", COUNTED, "--snapshot-when", NEST, "--", "sh", "-c", script)
    whole = recording.check()
    assert whole["recorded"] + whole["lost"]["paused"] == 159, whole
    assert names(Recording("f.data.1")) == [COUNTED] * 100 + [NEST]
    assert names(Recording("f.data.2")).count(NEST) == 2 and not os.path.exists("f.data.3")


def test_each_event_writes_a_snapshot_of_a_flight_instance():
    """The instance goes on, and can be used meanwhile. A drain instance is refused."""
    needs("bpf", "raw tracepoints", "uprobes")
    fresh_bpffs()
    stackmap("start", "drain", "-e", NEST)
    wrong = stackmap("record", "--instance", "drain", "-o", "no.data", "--snapshot-when", NEST, status=None)
    stackmap("stop", "drain")
    assert wrong.returncode and "drain is no flight recorder" in wrong.stderr and not os.path.exists("no.data"), wrong.stderr
    stackmap("start", "live", "--flight", "2M", "-e", COUNTED + "," + NEST, "--comm", "known_counts")
    process = recorder("--instance", "live", "--snapshot-when", NEST)
    spans = 0
    for number in 1, 2:
        run(PROGRAM, "calls=100")
        while not os.path.exists("f.data.%d" % number):
            assert spans < 2000 and process.poll() is None, spans
            run(PROGRAM, "nested=1")
            spans += 1
    stackmap("status", "live")
    process.send_signal(signal.SIGINT)
    process.stderr.read()
    assert process.wait() == 0
    first, second, last = (names(Recording(file)) for file in ("f.data.1", "f.data.2", "f.data"))
    stackmap("stop", "live")
    assert first.count(COUNTED) == 100 and second.count(COUNTED) == 200 == last.count(COUNTED), (first, second, last)
    assert 1 <= first.count(NEST) < second.count(NEST) <= last.count(NEST) <= spans, (first, second, last, spans)


def test_the_newest_snapshots_are_kept():
    needs("bpf", "raw tracepoints", "uprobes")
    script = "; ".join("%s; %s" % (NESTED, until("f.data.%d" % number)) for number in range(1, 5))
    record("--flight", "1M", "-e", COUNTED, "--snapshot-when", NEST, "--keep", "2", "--", "sh", "-c", script)
    assert sorted(os.listdir(".")) == ["f.data", "f.data.3", "f.data.4"], os.listdir(".")


def test_what_a_flight_recorder_held_before_the_event_is_not_overwritten():
    """The command stops the recorder while the event and 400,000 more come."""
    needs("bpf", "raw tracepoints", "uprobes")
    script = "; ".join(["kill -STOP $PPID", calls(100), NESTED, calls(400000), "kill -CONT $PPID", until("written")])
    messages = ended(recorder("--flight", "64K", "--bits", "10", "-e", COUNTED, "--stop-when", NEST, "--", "sh", "-c", script))
    recording = Recording("f.data")
    assert STOPPED in messages and recording.check()["produced"] == 101, messages
    assert names(recording) == [COUNTED] * 100 + [NEST]


def test_an_event_that_found_the_ring_full_and_is_not_counted_ends_the_recording():
    """Recordings with stack=begin count no events without a slot. The recorder is stopped while the ring fills up."""
    needs_command("taskset", "-V")
    cpu = min(os.sched_getaffinity(0))
    stacks = "span:u:%s:counted..ur:%s:counted/stack=begin/" % (PROGRAM, PROGRAM)
    script = "; ".join(["kill -STOP $PPID", *("taskset -c %d %s" % (cpu, word) for word in (calls(5000), NESTED)),
                        "kill -CONT $PPID", until("written"), calls(50)])
    messages = ended(recorder("-e", stacks, "--ring", "64K", "--stop-when", NEST, "--", "sh", "-c", script))
    ledger = Recording("f.data").check()
    assert STOPPED in messages and ledger["lost"]["ring_full"] > 1000, (messages, ledger)


def refused(*words, says):
    done = stackmap("record", "-o", "no.data", *words, "--", "true", status=None)
    assert done.returncode and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr
    assert not os.path.exists("no.data")


def test_words_that_do_not_go_together():
    refused("--stop-when", "no-such-event", says="--stop-when no-such-event: no such event")
    refused("--snapshot-when", "page-faults", says="--flight")
    started = stackmap("start", "live", "--snapshot-when", "page-faults", status=2)
    assert "record --instance NAME --snapshot-when" in started.stderr and started.stderr.count("\n") == 1, started.stderr
    refused("--flight", "1M", "--after", "1s", says="--stop-when")
    refused("--stop-when", "page-faults", "--after", "5x", says="--after 5x: not a time")
    refused("--at", "25:00", says="--at 25:00: not a time")
    refused("--at", "2001-02-03T04:05:06Z", says="has passed")


def test_events_begin_at_the_instant():
    """The command's clock is not before the instant, in words with and without a date and a time zone."""
    needs("bpf")
    for form in "%H:%M:%S", "%Y-%m-%dT%H:%M:%SZ":
        for delay in 3, 30:  # a loaded machine may start the command after the first instant
            instant = int(time.time()) + delay
            word = time.strftime(form, time.gmtime(instant) if form[-1] == "Z" else time.localtime(instant))
            with contextlib.suppress(subprocess.TimeoutExpired):  # without a date the instant is tomorrow's then
                done = stackmap("record", "-q", "-o", "f.data", "--at", word, "--", "date", "+%s", status=None, timeout=delay + 60)
                if done.returncode == 0:
                    break
        assert done.returncode == 0 and int(done.stdout) >= instant, (done.stdout, done.stderr, instant)


def test_the_wait_for_the_instant_can_be_given_up():
    needs("bpf")
    process = recorder("--at", time.strftime("%H:%M:%SZ", time.gmtime(time.time() + 3600)), "--", "touch", "ran")
    try:
        process.wait(3)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    assert process.wait() == -signal.SIGINT and os.listdir(".") == [], os.listdir(".")


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
