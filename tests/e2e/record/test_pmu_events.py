#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Events of PMUs by their terms, on a machine that may have no PMU: the folders in which the kernel describes its PMUs are
hidden under others. A PMU with the number of software events makes real samples; one with the number of the CPU shows that
the kernel is asked for the same event as by perf."""

import os
import re

from harness.cases import STACKMAP, Skip, main, needs, needs_command, run, stackmap
from harness.engine_folder import enter_own_mounts
from harness.recording import kernel_frames, record

FOLDERS = "/sys/bus/event_source/devices"
BUSY = ["sh", "-c", "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"]
DESCRIBED = {
    "clock/type": "1",
    "clock/format/event": "config:0-7",
    "clock/format/umask": "config:8-15",
    "clock/events/of-cpu": "event=0,umask=0",
    "cpu/type": "4",
    "cpu/format/event": "config:0-7,32-35",
    "cpu/format/umask": "config:8-15",
    "cpu/format/ldlat": "config1:0-15",
    "cpu/events/mem-loads": "event=0xcd,umask=0x1,ldlat=3",
    "memory/type": "1",
    "memory/cpumask": "0",
    "memory/format/event": "config:0-7",
}


def hide_folders():
    if os.path.exists(FOLDERS + "/clock"):
        return
    kept = {name: open("%s/%s/type" % (FOLDERS, name)).read() for name in os.listdir(FOLDERS)}
    run("mount", "-t", "tmpfs", "tmpfs", FOLDERS)
    for path, text in {**{name + "/type": number for name, number in kept.items()}, **DESCRIBED}.items():
        os.makedirs(os.path.dirname("%s/%s" % (FOLDERS, path)), exist_ok=True)
        with open("%s/%s" % (FOLDERS, path), "w") as file:
            file.write(text + "\n")


def test_an_event_by_its_terms_is_sampled():
    needs("bpf", "raw tracepoints", "perf events")
    for word in "clock/event=0,period=1000000/u", "clock/of-cpu,umask=0,period=1000000/u":
        recording = record("-e", word + ",page-faults", "--", *BUSY)
        recording.check()
        events = [event for event in recording.events() if event.name == word]
        assert len(events) > 20 and {event.name for event in recording.events()} == {word, "page-faults"}, (word, len(events))
        assert not any(kernel_frames(event) for event in events), word


def test_an_event_without_a_period_follows_the_rate():
    needs("bpf", "raw tracepoints", "perf events")
    recording = record("-F", "99", "-e", "clock/of-cpu/", "--", *BUSY)
    recording.check()
    assert {event.name for event in recording.events()} == {"clock/of-cpu/"}
    assert "99 Hz" in stackmap("report", recording.path).stdout


def test_events_with_a_name_are_listed():
    assert "clock/of-cpu/" in stackmap("list", "clock/*/").stdout.split()


def asked(command):
    """The event of the CPU's PMU that a command asks the kernel for."""
    traced = run("strace", "-f", "-v", "-e", "trace=perf_event_open", *command, status=None).stderr
    for line in traced.splitlines():
        if "type=PERF_TYPE_RAW" in line:
            return [int(re.search(r"\b%s=(\w+)" % name, line).group(1), 0) for name in ("config", "config1", "config2")]
    raise AssertionError(traced)


def test_the_kernel_is_asked_for_the_same_event_as_by_perf():
    needs_command("strace", "-V")
    needs_command("perf", "--version")
    for word in ("cpu/event=0x1c2,umask=1/", "cpu/mem-loads/u", "cpu/config=0x12345,config1=0x77,config2=0x88/", "r01c2:u"):
        ours = asked([STACKMAP, "record", "-o", "ours.data", "-e", word, "--", "true"])
        assert ours == asked(["perf", "record", "-o", "perf.data", "-e", word, "true"]), (word, ours)
        counter = asked([STACKMAP, "record", "-o", "ours.data", "-e", "page-faults/value=+%s/" % word, "--", "true"])
        assert counter == ours, (word, counter)


def test_a_period_is_the_one_that_perf_asks_for():
    needs_command("strace", "-V")
    needs_command("perf", "--version")
    for words, wanted in ((["-c", "1000000", "-e", "cpu-clock"], ("CPU_CLOCK", "1000000")),
                          (["--count=7", "-e", "page-faults"], ("PAGE_FAULTS", "7")),
                          (["-c100", "-e", "cs,faults"], ("CONTEXT_SWITCHES", "100"))):
        for command in [STACKMAP, "record", "-o", "ours.data", *words, "--", "true"], ["perf", "record", "-o", "perf.data", *words, "true"]:
            traced = run("strace", "-f", "-v", "-e", "trace=perf_event_open", *command, status=None).stderr
            assert wanted in re.findall(r"config=PERF_COUNT_SW_(\w+), sample_period=(\d+)", traced), (words, traced)


def test_what_cannot_be_sampled_says_why():
    for word, reason in (("memory/event=1/", "takes no samples"), ("cpu/event=1,umask=0x100/", "largest number is 0xff"),
                         ("gpu/event=1/", "this machine has no PMU gpu; it has "), ("clock/of-cpu/x", "x are no modes"),
                         ("clock/nothing/", "the PMU clock has no nothing")):
        refused = stackmap("record", "-e", word, "--", "true", status=None)
        assert refused.returncode, word
        assert reason in refused.stderr, refused.stderr


if __name__ == "__main__":
    if os.geteuid():
        raise Skip("only root hides folders")
    enter_own_mounts()
    hide_folders()
    main(globals())
