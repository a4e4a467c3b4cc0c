#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Commands that read a recording, of an instance: what it holds now, which it keeps; and a reader that follows it."""

import collections
import json
import os
import signal
import subprocess

from harness.cases import SECONDS_MAX, STACKMAP, Skip, main, needs, one_of_several, program, run, stackmap
from harness.engine_folder import HOME, enter_own_mounts, fresh_bpffs
from harness.recording import Recording, check_ledger, function, parse_events, parse_ids, parse_stack_map_bin, user_frames
from harness.waiting import unread, wait_until

COUNTS = program("known_counts")
SOURCE = "u:%s:counted" % COUNTS
FLIGHT, DRAIN = ["--flight", "2M"], ["--ring", "256K"]
PIPE_BYTES = 65536


def start(*options):
    needs("bpf", "uprobes")
    fresh_bpffs()
    stackmap("start", "live", "-e", SOURCE, *options)


def call(count):
    run(COUNTS, "calls=%d" % count)


def read(command, *options, **more):
    return stackmap(command, "--instance", "live", *options, **more)


def check_calls(count):
    """All commands see the same events, and the account of them."""
    events = parse_events(read("script", "--no-inline").stdout)
    assert len(events) == count, len(events)
    seen = {(event.comm, event.name, function(user_frames(event)[0])) for event in events}
    assert seen <= {("known_counts", SOURCE, "counted")}, seen
    lines = parse_ids(read("script", "--ids").stdout)
    assert len(lines) == count
    report = json.loads(read("report", "--json").stdout)
    check_ledger(report["ledger"])
    assert report["ledger"]["recorded"] == count == sum(stack["count"] for stack in report["stacks"]), report["ledger"]
    folded = [line.rpartition(" ") for line in read("export", "--format", "folded").stdout.splitlines()]
    assert sum(int(number) for _, _, number in folded) == count
    read("export", "--format", "stack_map_bin", "-o", "stacks.bin")
    with open("stacks.bin", "rb") as file:
        by_id, without_id = parse_stack_map_bin(file.read())
    used = collections.Counter(number for line in lines for number in (line.kernel, line.user) if number)
    assert not without_id and {number: stack.refs for number, stack in by_id.items()} == used, (by_id, used)


def snapshots(*options):
    start(*options)
    check_calls(0)
    call(1000)
    check_calls(1000)
    check_calls(1000)
    call(500)
    check_calls(1500)
    stackmap("pause", "live")
    call(100)
    check_calls(1500)
    stackmap("resume", "live")
    call(200)
    check_calls(1700)
    stackmap("stop", "live")
    assert not os.path.exists(HOME)


def test_snapshot_of_a_flight_instance():
    snapshots(*FLIGHT)


def test_snapshot_of_a_drain_instance():
    snapshots(*DRAIN)


def test_name_that_was_overwritten():
    """On the CPU of the execve the ring goes on, on the other one the name before is there still."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("it takes two CPUs")
    start(*FLIGHT)
    os.sched_setaffinity(0, cpus[:1])
    run("taskset", "-c", cpus[1], COUNTS, "calls=100")
    run("taskset", "-c", cpus[1], "sh", "-c", "i=0; while [ $i -lt 1500 ]; do /bin/true; i=$((i + 1)); done")
    os.sched_setaffinity(0, cpus)
    check_calls(100)
    stackmap("stop", "live")


def test_what_was_drained_is_not_in_a_snapshot():
    start(*DRAIN)
    call(1000)
    with Follower() as follower:
        assert follower.events(1000)
    check_calls(0)
    call(300)
    check_calls(300)
    stackmap("stop", "live")


class Follower:
    """script -f: events as they come."""

    def __init__(self, *options, **more):
        self.process = subprocess.Popen([STACKMAP, "script", "--instance", "live", "-f", *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.send_signal(signal.SIGINT)
        _, self.messages = self.process.communicate(timeout=SECONDS_MAX)

    def events(self, count):
        """The next so many events, which it prints while it goes on."""
        text = "".join(self.next_event() for _ in range(count))
        return parse_events(text)

    def next_event(self):
        lines = ""
        while not lines.endswith("\n\n"):
            line = self.process.stdout.readline()
            assert line, self.process.stderr.read()
            lines += line
        return lines


@one_of_several
def test_follow():
    """Each event once, in the order of time, with its stack; and then no more."""
    start(*DRAIN)
    call(500)
    with Follower() as follower:
        events = follower.events(500)
        for _ in range(3):
            call(100)
            events += follower.events(100)
    assert follower.process.returncode == 0, follower.messages
    assert [event.time for event in events] == sorted(event.time for event in events) and len(events) == 800
    assert {(event.comm, function(user_frames(event)[0])) for event in events} == {("known_counts", "counted")}
    check_calls(0)
    stackmap("stop", "live")


@one_of_several
def test_follow_across_resets():
    """By another process meanwhile, more often than there are tables: what comes after each has its stacks as well."""
    start(*DRAIN)
    with Follower() as follower:
        for reset in range(4):
            call(100)
            events = follower.events(100)
            assert {function(user_frames(event)[0]) for event in events if user_frames(event)} == {"counted"}, reset
            assert all(user_frames(event) for event in events), "after %d resets" % reset
            stackmap("reset", "live")
    assert follower.process.returncode == 0, follower.messages
    assert "400 recorded + 0 lost" in follower.messages, follower.messages
    stackmap("stop", "live")


def test_follow_until_the_instance_ends():
    start(*DRAIN)
    follower = Follower("--ids")
    call(100)
    lines = [follower.process.stdout.readline() for _ in range(100)]
    assert len(parse_ids("".join(lines))) == 100
    stackmap("stop", "live")
    rest, messages = follower.process.communicate(timeout=SECONDS_MAX)
    assert follower.process.returncode == 0 and not rest, (rest, messages)


def test_follow_in_the_background_of_a_shell():
    """Such a process starts with SIGINT ignored, and still ends by it, also while its text waits for a reader."""
    start(*DRAIN)
    follower = Follower(preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN))
    call(1000)
    wait_until(lambda: unread(follower.process.stdout) == PIPE_BYTES)
    follower.process.send_signal(signal.SIGINT)
    text, messages = follower.process.communicate(timeout=SECONDS_MAX)
    assert follower.process.returncode == 0, messages
    assert len(parse_events(text)) == 1000, (len(parse_events(text)), messages)
    stackmap("stop", "live")


def test_one_follower():
    """Two readers would each see half of the events."""
    start(*DRAIN)
    with Follower() as follower:
        call(10)
        follower.events(10)
        second = stackmap("script", "--instance", "live", "-f", status=1)
        assert second.stderr.count("\n") == 1 and "read" in second.stderr, second.stderr
        check_calls(0)
    stackmap("stop", "live")


def test_a_flight_instance_is_not_followed():
    start(*FLIGHT)
    done = stackmap("script", "--instance", "live", "-f", status=2)
    assert "flight" in done.stderr and "stackmap script --instance live" in done.stderr, done.stderr
    stackmap("stop", "live")


def test_wrong_usage():
    done = stackmap("script", "--instance", "live", "f.data", status=2)
    assert done.stderr.count("\n") == 1, done.stderr
    assert stackmap("script", "-f", status=2).stderr.count("\n") == 1
    for command in ("script", "export", "report"):
        done = stackmap(command, "--instance", "nobody", status=1)
        assert done.stderr.count("\n") == 1 and "nobody" in done.stderr, done.stderr
        assert stackmap(command, "--instance", "../x", status=None).returncode in (1, 2)


def test_recording_of_a_snapshot_agrees():
    """`record` of a flight instance writes the same events that `script` shows."""
    start(*FLIGHT)
    call(700)
    shown = read("script", "--ids").stdout
    stackmap("record", "-o", "f.data", "--instance", "live")
    recording = Recording("f.data")
    assert recording.check()["recorded"] == 700
    assert recording.read("script", "--ids") == shown
    stackmap("stop", "live")


def test_an_instance_without_files():
    """The kernel refuses the iterators that files are made of: the instance starts, and commands read it through its maps."""
    needs("bpf", "uprobes")
    fresh_bpffs()
    done = run(program("refuse_feature"), "map-iterators,symbol-iterators", STACKMAP, "start", "live", "-e", SOURCE, *FLIGHT, status=None)
    if done.returncode == 77:
        raise Skip(done.stderr.strip())
    assert done.returncode == 0 and "files that cat could read" in done.stderr, done.stderr
    assert not os.path.exists(os.path.join(HOME, "live", "stack_map"))
    call(1000)
    check_calls(1000)


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
