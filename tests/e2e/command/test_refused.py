#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""If the kernel refuses to trace, the command prints one line with the missing feature and the fix, exits with 1, and leaves
no file."""

import json
import os
import shutil

from harness.cases import STACKMAP, Skip, features, main, needs, program, run

NOBODY = 65534
PERF_SOURCES = (["-F", 99], ["-e", "page-faults"])


def check_refusal(command, *words, **options):
    """The command prints one line with these words, and leaves no file."""
    before = sorted(os.listdir("."))
    done = run(*command, status=None, **options)
    if done.returncode == 77:
        raise Skip("no seccomp filters here: " + done.stderr)
    assert done.returncode == 1 and not done.stdout, (done.returncode, done.stdout, done.stderr)
    assert done.stderr.startswith("stackmap: ") and done.stderr.count("\n") == 1, done.stderr
    for word in words:
        assert word in done.stderr, (word, done.stderr)
    assert sorted(os.listdir(".")) == before, os.listdir(".")


def record_without(syscall, *options):
    return [program("refuse_syscall"), syscall, STACKMAP, "record", "-o", "f.data", *options, "--", "true"]


def test_bpf_refused_by_seccomp():
    for source in (*PERF_SOURCES, ["-e", "sched:sched_switch"]):
        check_refusal(record_without("bpf", *source), "BPF", "CAP_BPF")
        check_refusal(record_without("bpf", *source, "--flight", "1M"), "BPF")


def test_perf_events_refused_by_seccomp():
    needs("bpf", "perf events")
    for source in PERF_SOURCES:
        check_refusal(record_without("perf_event_open", *source), "perf events", "seccomp")
        check_refusal(record_without("perf_event_open", *source, "--flight", "1M"), "perf events", "seccomp")


def limited(*limits):
    """A command with lower limits: its soft and its hard one."""
    return ["sh", "-c", "ulimit %s; exec \"$@\"" % " ".join(limits), "sh", STACKMAP, "record", "-o", "f.data", "-F", 99,
            "--", "true"]


def test_a_limit_is_named():
    needs("bpf", "perf events")
    for kilobytes in "16000", "20000", "30000", "40000":
        check_refusal(limited("-v", kilobytes), "Cannot allocate memory", "ulimit -v")
    check_refusal(limited("-d", "10000"), "Cannot allocate memory", "ulimit -d")
    for files in ("8", "20"):
        check_refusal(limited("-n", files), "Too many open files", "ulimit -n")


def test_limits_below_those_of_the_sandbox():
    """Limits that are lower than the sandbox's own stay, and suffice."""
    needs("bpf", "perf events")
    for limits in (("-v", "3900000"), ("-t", "30"), ("-S", "-t", "30"), ("-n", "128"), ("-c", "0")):
        done = run(*limited(*limits))
        assert "files without names" not in done.stderr, done.stderr


def test_user_without_privileges():
    if os.geteuid() != 0:
        raise Skip("needs root, to become nobody")
    os.chmod(".", 0o777)
    binary = shutil.copy(STACKMAP, "stackmap")
    os.chmod(binary, 0o755)
    for source in PERF_SOURCES:
        check_refusal([os.path.abspath(binary), "record", "-o", "f.data", *source, "--", "true"], "CAP_BPF",
                      user=NOBODY, group=NOBODY, extra_groups=[])


def test_older_file_stays():
    with open("f.data", "w", encoding="ascii") as file:
        file.write("older")
    check_refusal(record_without("bpf", "-F", 99), "BPF")
    with open("f.data", encoding="ascii") as file:
        assert file.read() == "older"


def test_doctor_names_what_is_refused():
    for syscall, feature in (("bpf", "bpf"), ("perf_event_open", "perf events")):
        done = run(program("refuse_syscall"), syscall, STACKMAP, "doctor", status=None)
        if done.returncode == 77:
            raise Skip("no seccomp filters here: " + done.stderr)
        assert "no   " + feature in done.stdout and "fix: " in done.stdout, done.stdout


def refused(count, *arguments):
    """Runs a command while the kernel refuses the first loads of the program, including libbpf's second tries."""
    env = {**os.environ, "LD_PRELOAD": program("librefuse_programs.so"), "REFUSE_NAME": "on_sample",
           "REFUSE_COUNT": str(count)}
    return run(STACKMAP, *arguments, env=env, status=None)


def record_refused(count, *options):
    return refused(count, "record", "-o", "f.data", *options, "--", "tar", "-cf", "all.tar", "-C", "/usr", "include")


def ways():
    """The names of the ways to user stacks that are simpler than the best one here."""
    deferred = "BPF task work" not in features() or features()["BPF task work"] is None
    return (["learned rules"] if deferred else []) + ["taken by frame pointers alone;"]


UNKNOWN_END = "user stack of unknown end: "


def unknown_ends():
    """The stacks of f.data with an unknown end, and the complete ones. The report's head has the same numbers."""
    counts = json.loads(run(STACKMAP, "report", "--json", "f.data").stdout)["ledger"]["user_stacks"]
    line = "# ledger:   %s%d, taken by frame pointers alone: callers may be missing\n" % (UNKNOWN_END, counts["unknown_end"])
    assert (line in run(STACKMAP, "report", "--no-pager", "f.data").stdout) == (counts["unknown_end"] > 0), (line, counts)
    return counts["unknown_end"], counts["complete"]


def test_programs_that_a_kernel_refuses():
    """The next way to user stacks is taken and named, as long as there is one."""
    needs("bpf", "perf events")
    for turn, way in enumerate(ways(), start=1):
        done = record_refused(2 * turn)
        assert done.returncode == 0 and way in done.stderr and "on_sample" in done.stderr, done.stderr
        assert "+ 0 lost" in done.stderr, done.stderr
        unknown, complete = unknown_ends()
        if "frame pointers alone" in way:
            assert unknown and not complete and UNKNOWN_END in done.stderr, (unknown, complete, done.stderr)
        else:
            assert complete and not unknown and UNKNOWN_END not in done.stderr, (unknown, complete, done.stderr)
    done = record_refused(2 * len(ways()) + 2)
    assert done.returncode == 1 and "refuses the BPF programs" in done.stderr, done.stderr


def test_poorer_stacks_are_told_by_every_command():
    """-q leaves it to the file; the agent and top say it as they begin, doctor beforehand."""
    needs("bpf", "perf events")
    turns, way = 2 * len(ways()), "user stacks are " + ways()[-1]
    assert not record_refused(turns, "-q").stderr
    unknown, complete = unknown_ends()
    assert unknown and not complete, (unknown, complete)
    done = refused(turns, "top", "--batch", "--iterations", "1", "--delay", "1")
    assert done.returncode == 0 and way in done.stderr, done.stderr
    os.mkdir("spool", mode=0o700)
    done = refused(turns, "agent", "--config", "/dev/null", "--to", "http://127.0.0.1:1", "--spool", "spool", "--window", "1",
                   "--once", "1")
    assert way in done.stderr, done.stderr
    found = json.loads(refused(turns, "doctor", "--json").stdout)
    assert found["user_stacks"] == found["instance_user_stacks"] == "fp" and "on_sample" in found["why"], found
    assert "User stacks are taken by frame pointers alone here, so callers may be missing." in refused(turns, "doctor").stdout


def test_frame_pointers_that_were_asked_for():
    needs("bpf", "perf events")
    done = run(STACKMAP, "record", "-o", "f.data", "--user-unwind", "fp", "--", "tar", "-cf", "all.tar", "-C", "/usr", "include")
    unknown, complete = unknown_ends()
    assert unknown and not complete and UNKNOWN_END in done.stderr, (unknown, complete, done.stderr)


main(globals())
