#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Work that the kernel does later, with the stacks of the program that queued it (record --origins)."""

import collections
import csv
import io
import json
import os
import subprocess

from harness.cases import STACKMAP, Skip, main, needs, one_of_several, program, run, stackmap
from harness.exported import Perfetto
from harness.recorder import Recorder
from harness.recording import Recording, function, record

TIMES = 30
ORIGIN = "queued-by"
TIMER_CALLERS = ("__hrtimer_run_queues", "call_timer_fn", "__run_timers")


def record_queued(mode, event, *options, times=TIMES):
    """The recording, and the rows of `report --origins` of what the program queued."""
    needs("bpf", "raw tracepoints")
    if stackmap("list", event, status=None).returncode:
        raise Skip("no %s here" % event)
    recording = record("-a", "--origins", *options, "-e", event, "--", program("waits"), mode, times)
    recording.check()
    return recording, rows_of(recording)


def rows_of(recording, *options):
    report = json.loads(recording.read("report", "--origins", "--json", "--no-inline", "--top", 0, *options))
    assert report["events"] == sum(row["count"] for row in report["origins"]), report
    return report["origins"]


def rows_queued_in(rows, user, kernel):
    """The rows of work that `user` of this program has queued by `kernel`. Its first call may be one of new code, whose user
    stack comes later, and has the same stack then."""
    found = [row for row in rows if user in row["queued_by"]["user"]]
    assert found, (user, [row["queued_by"]["user"] for row in rows])
    for row in found:
        assert row["queued_by"]["comm"] == "waits" and row["queued_by"]["user"][-1] in ("_start", "main"), row
        assert any(kernel in name for name in row["queued_by"]["kernel"]), row
        assert "interrupt" not in row["queued_by"] and 0 < row["longest"] < 60e9, row
    return found


def test_a_work_item():
    recording, rows = record_queued("work", "workqueue:workqueue_execute_start")
    found = rows_queued_in(rows, "queue_work", "queue_work_on")
    assert sum(row["count"] for row in found) == TIMES, found
    for row in found:
        assert row["work"]["comm"].startswith("kworker") and "worker_thread" in row["work"]["kernel"] and not row["work"]["user"], row
    check_script(recording, "workqueue:workqueue_execute_start", "queue_work")
    check_table(recording, rows)
    check_perfetto(recording, "workqueue:workqueue_execute_start")


def check_perfetto(recording, source):
    """Each event of queued work has the thread that queued it, or `interrupt`, which the script gives the id 0, as an annotation."""
    stackmap("export", "-f", "perfetto", "-o", "trace.perfetto", recording.path)
    expected = collections.Counter()
    for event in recording.events():
        if event.name == source and (event.other or "").startswith("queued by "):
            expected[source, b"interrupt" if event.other == "queued by interrupt 0" else int(event.other.split()[-1])] += 1
    found = Perfetto("trace.perfetto").queued_by
    assert sum(expected.values()) >= TIMES and found == expected, (found, expected)


def check_script(recording, source, user):
    """The report gives each event of queued work the name and the stacks of the task that queued it."""
    events = recording.events()
    work = [event for event in events if event.name == source and (event.other or "").startswith("queued by waits ")
            and any(function(frame) == user for frame in event.frames)]
    assert len(work) == TIMES, [event for event in events if event.name == source]
    origins = {(event.cpu, event.time): event for event in events if event.name == ORIGIN}
    for event in work:
        names = [function(frame) for frame in event.frames]
        behind = event.frames[names.index("[queued by]") + 1:]
        origin = origins[event.cpu, event.time]
        assert user in names[names.index("[queued by]"):] and behind == origin.frames, (names, origin)
        assert event.other == "queued by waits %d" % origin.tid and origin.value < 60e9, (event, origin)


def check_table(recording, rows):
    table = list(csv.DictReader(io.StringIO(recording.read("report", "--origins", "--csv", "--no-inline", "--top", 0))))
    assert [(int(row["count"]), row["comm"], row["origin_user"].split(";")[0]) for row in table] == [
        (row["count"], row["work"]["comm"], (row["queued_by"]["user"] or [""])[0]) for row in rows], table
    text = recording.read("report", "--origins", "--no-inline", "--top", 0)
    assert text.count("  queued by ") == len(rows) and "  queued by waits up to " in text, text


def is_of_timer(event, called):
    """The event is of an interrupt that runs a timer, whose callback has one of these functions."""
    names = set(map(function, event.frames))
    return event.comm == "interrupt" and names & set(called) and names & set(TIMER_CALLERS)


def check_wakes(mode, called, user, kernel):
    """Each wait of the program that this callback of a timer has ended has the program's call that started the timer."""
    needs("typed tracepoints")
    recording = record("--wakers", "--origins", "--", program("waits"), mode, TIMES)
    recording.check()
    rows = [row for row in rows_of(recording) if row["event"] == "offcpu-waker" and row["work"].get("function") in called]
    found = rows_queued_in(rows, user, kernel)
    woken = [event for event in recording.events() if event.name == "offcpu-waker" and is_of_timer(event, called)]
    assert len(woken) == sum(row["count"] for row in found) == sum(row["count"] for row in rows) <= TIMES, (len(woken), rows)
    for row in found:
        assert (row["work"]["interrupt"], row["work"]["user"]) == ("timer", []), row
        assert row["work"]["kernel"][-1] in TIMER_CALLERS, row


def test_a_timer_of_high_resolution():
    check_wakes("alarm", ["timerfd_tmrproc"], "start_alarm", "hrtimer_start")


def test_a_timer():
    check_wakes("timeout", ["process_timeout", "try_to_wake_up"], "wait_in_vain", "schedule_timeout")


def test_timers_beside_many_others():
    """Each CPU has ten thousand callbacks of timers in a second, and some of them while the recorder attaches its programs one by one."""
    needs("perf events")
    other = Recorder("-a", "-e", "cpu-clock/100000", "--user-unwind", "none", "--", "cat", output="other.data")
    other.say(b"begun\n")
    test_a_timer_of_high_resolution()
    test_a_timer()
    other.end()


@one_of_several
def test_a_sleep():
    """The interrupt that ends a sleep is of a timer that the sleeper has started itself. There is one sleep, and none if the time is
    over before it begins."""
    check_wakes("timer", ["hrtimer_wakeup"], "sleep_ms", "hrtimer_start")


def test_a_request_of_io_uring():
    event = "io_uring:io_uring_file_get"
    if not subprocess.run([program("waits"), "request", "1"], check=False).returncode == 0:
        raise Skip("io_uring is refused (kernel.io_uring_disabled), or not there")
    recording, rows = record_queued("request", event)
    found = rows_queued_in(rows, "submit_request", "io_queue_iowq")
    assert sum(row["count"] for row in found) == TIMES, found
    for row in found:
        assert row["work"]["comm"].startswith("iou-wrk-") and "io_wq_worker" in row["work"]["kernel"] and not row["work"]["user"], row
    assert recording.ledger()["user_stacks"]["reasons"]["refused"] >= TIMES, recording.ledger()


def test_a_cpu_sample_is_no_work_of_its_timer():
    """Samples by the clock are taken in the callback of a timer, which the recorder has started."""
    needs("perf events")
    recording = record("-a", "--origins", "-e", "cpu-clock/10000000", "--", "sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done")
    recording.check()
    own = [row for row in rows_of(recording) if row["work"]["comm"] == "sh"]
    assert not any("perf" in name or "cpu_clock" in name for row in own for name in row["queued_by"]["kernel"]), own


def test_a_worker_that_waits():
    """A worker's waits in a work item have the task that queued the item as origin; a worker without work has no origin."""
    needs("typed tracepoints")
    _, rows = record_queued("work", "workqueue:workqueue_execute_start", "--time")
    for row in rows:
        if row["event"].startswith("time:") and row["work"]["comm"].startswith("kworker") and "process_one_work" not in row["work"]["kernel"]:
            assert "worker_thread" not in row["work"]["kernel"], row


def test_ends_that_are_not_seen():
    """The kernel may skip the program at a callback's end. Here it is never called, and still no task has the origin of a
    callback that has ended: a switch of tasks is in no timer's callback, and in a work item only on the stack of one."""
    needs("bpf", "raw tracepoints")
    command = 'while :; do :; done & "$@"; kill $!'  # on one CPU, so that timers interrupt the loop
    done = run(program("refuse_feature"), "callback-ends", STACKMAP, "record", "-o", "ends.data", "-a", "--origins", "-e", "sched:sched_switch",
               "--", "sh", "-c", command, "sh", program("waits"), "alarm", TIMES, status=None,
               preexec_fn=lambda: os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}))
    if done.returncode == 77:
        raise Skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    recording = Recording("ends.data", done.stderr)
    recording.check()
    assert any(event.comm == "waits" for event in recording.events())
    for row in rows_of(recording):
        assert {"process_one_work", "io_wq_worker", "handle_softirqs", "__do_softirq"} & set(row["work"]["kernel"]), row


def test_without_origins():
    needs("bpf", "raw tracepoints")
    recording = record("-e", "sched:sched_switch", "--", "true")
    refused = stackmap("report", "--origins", recording.path, status=1).stderr
    assert "record --origins" in refused, refused
    for options, reason in ((["--no-dedup", "-e", "sched:sched_switch"], "--no-dedup"), (["-F", "99", "-e", "sched:sched_switch"], "-F")):
        refused = stackmap("record", "-a", "--origins", *options, "--", "true", status=None)
        assert refused.returncode and reason in refused.stderr, refused.stderr
    refused = stackmap("record", "-a", "-e", ORIGIN, "--", "true", status=2).stderr
    assert "goes with other events" in refused, refused


main(globals())
