#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Impossible requests are refused in one line, with the nearest valid choice if there is one and the right exit status, and
leave no files."""

import os
import shutil

from harness.cases import main, needs, program, stackmap

WORKLOAD = program("known_counts")
FAILED, USAGE = 1, 2


def refused(status, *arguments, words=()):
    before = sorted(os.listdir("."))
    done = stackmap(*arguments, status=None)
    what = " ".join(map(str, arguments))
    assert done.returncode == status, (what, done.returncode, done.stderr)
    assert done.stderr.startswith("stackmap: ") and done.stderr.count("\n") == 1, (what, done.stderr)
    for word in words:
        assert word in done.stderr, (what, word, done.stderr)
    assert sorted(os.listdir(".")) == before, (what, os.listdir("."))


def record_refused(status, *options, words=()):
    """A refusal of `record`, after which the command must not have run."""
    refused(status, "record", "-o", "f.data", *options, "--", "touch", "ran", words=words)


def test_unknown_events():
    needs("bpf", "tracefs", "uprobes")
    for event, near in (("sched:sched_swich", "sched:sched_switch"), ("schd:sched_switch", "sched:sched_switch"),
                        ("page-fault", "page-faults"), ("syscalls:sys_enter_opanat", "sys_enter_openat"),
                        ("u:%s:countd" % WORKLOAD, "counted"), ("cpu-clok", "cpu-clock")):
        record_refused(FAILED, "-e", event, words=[event, near])


def test_malformed_events():
    for event in (":", "sched:"):
        record_refused(FAILED, "-e", event)
    for event in ("", "u:", "u::", "u:%s" % WORKLOAD, "k:", "ur:%s:" % WORKLOAD):
        record_refused(USAGE, "-e", event)


def test_functions_have_arguments_and_no_periods():
    for event in "u:libc.so.6:malloc/value=size/", "u:libc.so.6:malloc/value=size:bytes/", "u:libc.so.6:malloc/if=size>1/":
        record_refused(FAILED, "-e", event, words=[event, "no number size; the entry of a function has arg1 to arg6"])
    for event in "u:libc.so.6:malloc/value=arg1:/", "k:vfs_read/value=1/":
        record_refused(USAGE, "-e", event, words=[event, "expected /value=NUMBER/"])
    for event in "u:libc.so.6:malloc/100", "k:vfs_read/1":
        record_refused(USAGE, "-e", event, words=[event, "functions have no period"])


def test_words_of_other_tracers():
    """Words of other tracers with the same meaning are accepted; others are refused with the form that they have here."""
    for event, instead in (("profile:ms:10", "profile:hz:HZ"), ("interval:s:1", "-F HZ"), ("usdt:x", "usdt:PATH:PROVIDER:NAME")):
        record_refused(USAGE, "-e", event, words=[event, instead])
    for event, reason in (("usdt:/bin/sh:x", "the file has no USDT probes"), ("nothing/event=0xc2/", "this machine has no PMU nothing")):
        record_refused(FAILED, "-e", event, words=[event, reason])
    for event in ("software:page-fault:1", "cpu-clok:u"):
        record_refused(FAILED, "-e", event, words=[event, "did you mean"])
    needs("bpf", "tracefs", "uprobes")
    for event, near in (("tracepoint:sched:sched_swich", "sched:sched_switch"), ("uprobe:%s:countd" % WORKLOAD, "counted"),
                        ("uretprobe:%s:countd" % WORKLOAD, "counted")):
        record_refused(FAILED, "-e", event, words=[event, near])
    for event, name in (("tracepoint:sched:sched_switch", "sched:sched_switch"), ("uprobe:%s:counted" % WORKLOAD, "u:%s:counted" % WORKLOAD),
                        ("uretprobe:%s:counted" % WORKLOAD, "ur:%s:counted" % WORKLOAD)):
        assert stackmap("list", event).stdout.split()[0] == name


def test_globs_without_match():
    needs("bpf", "tracefs", "uprobes")
    for glob in ("sched:nothing_*", "syscalls:sys_enter_zz*", "u:%s:zz*" % WORKLOAD, "nothing*:*"):
        record_refused(FAILED, "-e", glob, words=[glob])


def test_files_without_functions():
    needs("bpf", "uprobes")
    with open("text", "w", encoding="ascii") as file:
        file.write("text\n" * 100)
    shutil.copy(WORKLOAD, "cut")
    os.truncate("cut", 1000)
    open("empty", "w", encoding="ascii").close()
    os.mkfifo("pipe")
    for path in ("./text", "./cut", "./empty", "./pipe", ".", "./none", "/dev/null"):
        record_refused(FAILED, "-e", "u:%s:counted" % path, words=[path])
    record_refused(USAGE, "-e", "u:%s:0xffffffffff" % WORKLOAD)


def test_frequencies():
    for frequency in (0, 1000000000, 4294967295, 4294967296, -1, "many", "", "99k", "9 9"):
        record_refused(USAGE, "-F", frequency, words=["-F"])


def test_sizes():
    for option, values in (("--ring", ("-1", "0", "1", "1K", "100G", "99999999999999999999", "12q", "")),
                           ("--flight", ("-1", "0", "1K", "1000G", "1e6", "99999999999999999999")),
                           ("--pool", ("-4", "0", "1", "9999G", "lots")),
                           ("--bits", ("-1", "0", "9", "21", "64", "ten"))):
        for value in values:
            record_refused(USAGE, option, value, words=[option])


def test_processes():
    needs("bpf", "perf events")
    with open("/proc/sys/kernel/pid_max", encoding="ascii") as file:
        dead = int(file.read())
    refused(FAILED, "record", "-o", "f.data", "-p", dead, words=[str(dead)])
    for pid in ("0", "-1", "self", "", "99999999999999999999", "1x"):
        refused(USAGE, "record", "-o", "f.data", "-p", pid, words=["-p"])


def test_cpus():
    for cpus in ("", "x", "1-", "3-1", "0,,1", "-1", "100000", "0-99999"):
        record_refused(USAGE, "-C", cpus, words=["-C"])


def test_cgroups():
    needs("bpf", "perf events")
    for status, folder in ((FAILED, "/none"), (FAILED, WORKLOAD), (USAGE, "/proc")):
        record_refused(status, "-a", "--cgroup", folder, words=[folder])


def test_nothing_to_record():
    refused(USAGE, "record", "-o", "f.data")
    refused(USAGE, "record", "-o", "f.data", "-a", "-p", "1")
    refused(USAGE, "record", "-o", "f.data", "--flight", "1M", "--ring", "1M", "--", "true")


def test_outputs():
    needs("bpf", "perf events")
    os.mkdir("folder")
    for output in ("folder", "none/f.data", "/proc/f.data", "folder/", "x" * 300):
        refused(FAILED, "record", "-o", output, "-F", 99, "--", "touch", "ran", words=[output[:20]])
        refused(FAILED, "record", "--flight", "1M", "-o", output, "-F", 99, "--", "touch", "ran", words=[output[:20]])


def test_files_that_are_no_recordings():
    with open("text", "w", encoding="ascii") as file:
        file.write("text\n" * 100)
    open("empty", "w", encoding="ascii").close()
    for command in ("report", "script", "export", "dump"):
        for path in ("text", "empty", "none", ".", "/dev/null", WORKLOAD):
            refused(FAILED, command, path, words=[path])
    refused(USAGE, "export", "-f", "fold", "text", words=["folded"])


def test_words():
    refused(USAGE, "recrod", words=["record"])
    refused(USAGE, "record", "--fligth", "1M", "--", "true", words=["--flight"])
    refused(USAGE)


main(globals())
