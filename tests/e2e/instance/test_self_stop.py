#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An instance that stops itself: no process runs between its start and the reading of what it holds."""

import json
import os
import subprocess

from harness.cases import STACKMAP, Skip, main, needs, program, run, stackmap
from harness.engine_folder import HOME, enter_own_mounts, fresh_bpffs
from harness.recording import record

PROGRAM = program("known_counts")
SLEEP_COMM = "sleep-%d" % os.getpid()  # no other task has the name
SLEEPER = program("/bin/sleep", called=SLEEP_COMM)
COUNTED = "u:%s:counted" % PROGRAM
NEST = "span:u:%s:nest..ur:%s:nest" % (PROGRAM, PROGRAM)
SLEEP = "span:syscalls:sys_enter_clock_nanosleep..syscalls:sys_exit_clock_nanosleep"
EVENTS = ["-e", COUNTED, "--comm", "known_counts", "--comm", SLEEP_COMM]


def start(*options, wrapper=()):
    needs("bpf", "raw tracepoints", "uprobes")
    fresh_bpffs()
    if wrapper:
        done = run(*wrapper, STACKMAP, "start", "live", *EVENTS, *options, status=None)
        if done.returncode == 77:
            raise Skip(done.stderr.strip())
        assert not done.returncode, done
        return done
    return stackmap("start", "live", *EVENTS, *options)


def calls(count):
    run(PROGRAM, "calls=%d" % count)


def status():
    return json.loads(stackmap("status", "live", "--json").stdout)


def held():
    """The names of the events that the instance holds, and the messages of the reader."""
    recording = record("--instance", "live")
    recording.check()
    return [event.name for event in recording.events()], recording.messages


def sleeps_and_calls():
    """Only the second sleep is longer than a second."""
    calls(100)
    run(SLEEPER, "0.01")
    calls(50)
    run(SLEEPER, "1.2")
    calls(70)


def check_stopped(event, expected):
    now = status()
    names, messages = held()
    assert now["state"] == "stopped" and now["stopped_by"].startswith(event) and now["ledger"]["produced"] == len(expected), now
    assert names == expected, names
    assert "live: stopped by %s" % now["stopped_by"] in messages, messages
    for words in ("status", "live"), ("dump", "--instance", "live"), ("script", "--instance", "live"):
        done = stackmap(*words)
        assert "stopped by" in done.stdout + done.stderr, (words, done.stdout, done.stderr)
    assert "stopped" in stackmap("status").stdout
    return now


def test_an_instance_stops_at_a_latency():
    start("--flight", "2M", "--stop-when", SLEEP + "/if=time>1s/")
    armed = stackmap("status", "live").stdout
    sleeps_and_calls()
    now = check_stopped(SLEEP, [COUNTED] * 150 + [SLEEP])
    with open(os.path.join(HOME, "live", "stack_map_stat")) as stat:
        lines = stat.read().splitlines()
    stackmap("stop", "live")
    assert "  stops when   span:" in armed and "recording since" in armed, armed
    assert now["since"] < now["stopped_at"], now
    assert lines[-2].startswith("stopped_by: span:") and lines[-1].startswith("stopped_at: "), lines


def test_an_instance_stops_where_map_iterators_are_refused():
    start("--flight", "2M", "--stop-when", SLEEP + "/if=time>1s/", wrapper=(program("refuse_feature"), "map-iterators"))
    sleeps_and_calls()
    check_stopped(SLEEP, [COUNTED] * 150 + [SLEEP])
    stackmap("stop", "live")


def test_a_small_ring_keeps_what_was_before():
    """400,000 calls after the event would overwrite the ring many times."""
    start("--flight", "64K", "--bits", "10", "--stop-when", NEST)
    calls(100)
    run(PROGRAM, "nested=1", "calls=400000")
    check_stopped(NEST, [COUNTED] * 100 + [NEST])
    stackmap("stop", "live")


def test_an_instance_with_full_rings_stops_without_flight():
    start("--ring", "64K", "--stop-when", NEST)
    calls(100000)
    run(PROGRAM, "nested=1", "calls=50")
    now = status()
    stackmap("stop", "live")
    assert now["stopped_by"] == NEST and now["ledger"]["produced"] == 100001, now


def test_a_reader_that_follows_is_told_of_each_stop():
    """Once for each stop."""
    for words in ("script", "-f"), ("record", "-o", "live.data"):
        follow_two_stops(words)


def follow_two_stops(words):
    start("--ring", "64K", "--stop-when", NEST)
    with subprocess.Popen([STACKMAP, *words, "--instance", "live"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as follower:
        told = []
        for stop in range(2):
            run(PROGRAM, "nested=1", "calls=50")
            told.append(follower.stderr.readline())
            assert told[stop].startswith("stackmap: live: stopped by %s at " % NEST), told
            stackmap("resume", "live")
        stackmap("stop", "live")
        rest = follower.stderr.read()
    assert told[0] != told[1] and "stopped by" not in rest and "2 recorded + 0 lost" in rest, (told, rest)


def test_top_shows_the_stop():
    start("--ring", "64K", "--stop-when", NEST)
    run(PROGRAM, "nested=1")
    shown = stackmap("top", "-b", "-n", "1", "-d", "1", "--instance", "live").stdout
    stackmap("resume", "live")
    resumed = stackmap("top", "-b", "-n", "1", "-d", "1", "--instance", "live").stdout
    stackmap("stop", "live")
    assert "stopped by %s at " % NEST in shown and "stopped by" not in resumed, (shown, resumed)


def test_events_of_the_time_after_are_kept():
    start("--flight", "2M", "--stop-when", NEST, "--after", "10h")
    run(PROGRAM, "nested=1")
    calls(100)
    before, text = status(), stackmap("status", "live").stdout
    names = held()[0]
    stackmap("stop", "live")
    assert before["state"] == "recording" and before["stopped_by"] is None, before
    assert "  stops by     span:" in text and "36000 s after it" in text, text
    assert names == [NEST] + [COUNTED] * 100, names


def test_events_after_the_time_after_are_not():
    """The sleep between is longer than the time, and its own end is later than the stop."""
    start("--flight", "2M", "--stop-when", NEST, "--after", "1s")
    run(PROGRAM, "nested=1")
    run(SLEEPER, "1.2")
    calls(100)
    check_stopped(NEST, [NEST])
    stackmap("stop", "live")


def test_resume_waits_for_the_next_event():
    start("--flight", "2M", "--stop-when", NEST)
    run(PROGRAM, "nested=1", "calls=100")
    check_stopped(NEST, [NEST])
    stackmap("resume", "live")
    assert status()["state"] == "recording"
    run(PROGRAM, "calls=50", "nested=1", "calls=100")
    check_stopped(NEST, [NEST] + [COUNTED] * 50 + [NEST])
    stackmap("stop", "live")


def test_a_paused_instance_ignores_the_event():
    start("--flight", "2M", "--stop-when", NEST)
    stackmap("pause", "live")
    run(PROGRAM, "nested=1")
    paused = status()
    stackmap("resume", "live")
    calls(10)
    names = held()[0]
    stackmap("stop", "live")
    assert paused["state"] == "paused" and paused["ledger"]["lost"]["paused"] == 1, paused
    assert names == [COUNTED] * 10, names


def test_a_sample_stops_an_instance():
    """Samples come in interrupts, also in those that cannot be masked."""
    start("--flight", "2M", "--stop-when", "cpu-clock")
    run(PROGRAM, "calls=10000000")
    now = status()
    names = held()[0]
    stackmap("stop", "live")
    assert now["stopped_by"] == "cpu-clock" and names.count("cpu-clock") == 1 and names[-1] == "cpu-clock", (now, names[-3:])


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
