#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Failures and kills at every step: the ledger adds up, no object of the instance is left, and the next one works. Runs in a
mount namespace with a private BPF file system. The stack maps have a size that no other instance uses, so maps that are left
belong to this test; a program or link that is left keeps its maps, too."""

import contextlib
import json
import os
import platform
import re
import resource
import subprocess

from harness.cases import SECONDS_MAX, STACKMAP, Skip, cgroup2, main, program, run, stackmap
from harness.damage import check_printed_ledger, read_damaged
from harness.engine_folder import HOME, enter_own_mounts
from harness.harmed_instance import (COUNTS, INSTANCE, OPTIONS, POOL, STEPS, begin, check_counts, check_next_start,
                                     check_nothing_left, check_stat, check_works, numbered, start, stat, stop, told)
from harness.known_stack import KNOWN
from harness.recording import Recording, record
from harness.waiting import read_text, wait_until

IN_FOLDERS = ("mkdir", "rename", "rmdir", "unlinkat") if platform.machine() == "x86_64" else ("mkdirat", "renameat", "unlinkat")


# --- faults on the way ---

def strace(*options, command, **more):
    return run("strace", "-qq", "-o", "steps", *options, "--", STACKMAP, *command, **more)


def steps_of(*command):
    """Each system call that an engine's or an instance's state depends on, as often as it is made."""
    wanted = ["bpf", "ioctl", *IN_FOLDERS]
    strace("-e", "trace=" + ",".join(wanted), command=command)
    names = re.findall(r"^(\w+)\(", read_text("steps"), re.M)
    return numbered(name for name in names if name in wanted)  # strace prints calls that it does not know, too


def some(steps, count):
    """All that change folders, and some of the rest: the same in each run, others for another STACKMAP_TEST_SEED."""
    in_folders = [step for step in steps if step[0] in IN_FOLDERS and step[0] != "unlinkat"]
    rest = [step for step in steps if step not in in_folders]
    chosen = STEPS.sample(in_folders, min(len(in_folders), count // 2)) + STEPS.sample(rest, min(len(rest), count))
    return sorted(chosen[:count], key=steps.index)


def at_step(step, fault, *command, status=None):
    name, number = step
    return strace("-e", "trace=" + name, "-e", "inject=%s:%s:when=%s" % (name, fault, number), command=command,
                  status=status)


def test_start_is_killed():
    begin()
    steps = steps_of("start", "x", *OPTIONS)
    stop()
    for step in some(steps, 8):
        with told("start killed at", step):
            at_step(step, "signal=KILL", "start", "x", *OPTIONS)
            if os.path.exists(INSTANCE):
                check_works()
                stop()
            start()
            check_works()
            stop()
            assert not os.path.exists(HOME), [*os.walk(HOME)]
    check_nothing_left()


def test_stop_is_killed():
    begin()
    start()
    steps = steps_of("stop", "x")
    for step in some(steps, 6):
        with told("stop killed at", step):
            start()
            at_step(step, "signal=KILL", "stop", "x")
            if os.path.exists(INSTANCE):
                check_works()
                stop()
    check_next_start()


def harm_while_it_lives(fault, command, steps):
    """Harms a command that works on an instance: the instance goes on counting, and works as before after the next command."""
    for step in steps:
        with told(*command[:1], fault, "at", step):
            at_step(step, fault, *command)
            check_counts()
            stackmap(*command)
            check_works()
    stop()
    check_nothing_left()


def test_reset_is_harmed():
    for fault in ("signal=KILL", "error=ENOMEM"):
        begin()
        start("--flight", "4M")
        command = ("reset", "x")
        harm_while_it_lives(fault, command, some(steps_of(*command), 5))


def steps_of_copying(*command):
    """The memory for copies of the rings: the instance is held still then."""
    strace("-e", "trace=mmap", command=command)
    calls = re.findall(r"^mmap\(.*", read_text("steps"), re.M)
    sizes = [int(re.match(r"mmap\(\w+, (\d+)", call)[1]) if "MAP_ANONYMOUS, -1" in call else 0 for call in calls]
    return [("mmap", number) for number, size in enumerate(sizes, 1) if size > 1 << 20]


def test_readers_are_killed():
    # Else the C library serves such copies from its heap, once it has freed something larger.
    os.environ["GLIBC_TUNABLES"] = "glibc.malloc.mmap_threshold=%d" % (1 << 20)
    try:
        for command in (("script", "--instance", "x"), ("export", "-f", "folded", "--instance", "x")):
            begin()
            start("--flight", "8M")
            steps = steps_of_copying(*command)
            assert steps
            harm_while_it_lives("signal=KILL", command, steps)
    finally:
        del os.environ["GLIBC_TUNABLES"]


def test_pause_and_resume_are_killed():
    """After a killed pause or resume, the reported state is right, and the other command undoes it."""
    begin()
    start()
    for command in ("pause", "resume"):
        for step in some(steps_of(command, "x"), 3):
            with told(command, "killed at", step):
                at_step(step, "signal=KILL", command, "x")
                check_stat(stat())
                stackmap("resume", "x", status=None)
                check_works()
    stop()
    check_nothing_left()


def test_record_is_killed():
    begin()
    command = ("record", "-o", "f.data", *OPTIONS, "--", COUNTS, "calls=100")
    for step in some(steps_of(*command), 4):
        with told("record killed at", step):
            at_step(step, "signal=KILL", *command)
            record(*OPTIONS, "--", COUNTS, "calls=100").check()
            assert not os.path.exists(HOME), [*os.walk(HOME)]
    check_next_start()


def check_refused(done):
    """Checks that the command reports the refusal, or works without the feature."""
    assert done.returncode in (0, 1, 2), (done.returncode, done.stderr)
    assert not done.returncode or re.fullmatch(r"(stackmap: .+\n)+", done.stderr), done.stderr


def test_start_is_refused():
    """Each step of it may be: no memory for a map, a program, a link, a pin, a folder."""
    begin()
    steps = steps_of("start", "x", *OPTIONS)
    stop()
    for step in some(steps, 8):
        with told("start refused at", step):
            done = at_step(step, "error=ENOMEM", "start", "x", *OPTIONS)
            check_refused(done)
            assert os.path.exists(INSTANCE) == (done.returncode == 0), done.stderr
            if done.returncode == 0:
                check_works()
                stop()
            assert not os.path.exists(HOME), [*os.walk(HOME)]
    check_next_start()


def test_a_probe_is_refused():
    """Where libbpf tries what the kernel can, it takes any refusal for an old kernel, and goes on without."""
    begin()
    for number in range(12, 20):
        with told("start refused at", number):
            check_refused(at_step(("bpf", number), "error=ENOMEM", "start", "x", *OPTIONS))
            if os.path.exists(INSTANCE):
                check_works()
                stop()
    check_next_start()


def test_record_is_refused():
    """Its command does not run, or all of it is recorded."""
    begin()
    command = ("record", "-o", "f.data", *OPTIONS, "--", "sh", "-c", "touch ran; exec %s calls=100" % COUNTS)
    steps = [step for step in steps_of(*command) if step[0] != "rename"]  # that is its file's
    for step in some(steps, 4):
        with contextlib.suppress(FileNotFoundError):
            os.unlink("ran")
        with told("record refused at", step):
            done = at_step(step, "error=ENOMEM", *command)
            check_refused(done)
            if done.returncode == 0:
                assert Recording("f.data").check()["produced"] == 100
            assert done.returncode == 0 or not os.path.exists("ran") or "ledger" in done.stderr, done.stderr
    check_next_start()


# --- too little of everything ---

def test_locked_memory_limit():
    """Since Linux 5.11 memory of BPF does not count as locked memory."""
    begin()
    limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_MEMLOCK, (4096, 4096))}
    stackmap("start", "x", *OPTIONS, **limit)
    check_works()
    stop()
    check_nothing_left()


def memory_group(limit):
    """A cgroup whose tasks may have so much memory, the kernel's for them included."""
    version_2 = "/sys/fs/cgroup/cgroup.controllers"
    parent = "/sys/fs/cgroup" if "memory" in read_text(version_2) else "/sys/fs/cgroup/memory"
    folder = "%s/stackmap-faults-%d" % (parent, os.getpid())
    try:
        os.mkdir(folder)
        name = "memory.max" if os.path.exists(version_2) else "memory.limit_in_bytes"
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(str(limit))
    except OSError as error:
        raise Skip("no cgroup with a memory limit to be had: %s" % error) from error
    return folder


def test_memory_limit():
    """The start is refused with a message, or killed by the kernel; half an instance is never left."""
    begin()
    folder = memory_group(24 << 20)
    enter = "echo $$ >%s/cgroup.procs && exec \"$0\" \"$@\"" % folder
    try:
        done = run("sh", "-c", enter, STACKMAP, "start", "x", *OPTIONS, "--bits", 18, "--pool", POOL * 64, status=None)
        assert done.returncode, "a map larger than the limit"
        assert not os.path.exists(INSTANCE)
    finally:
        wait_until(lambda: not read_text(folder + "/cgroup.procs"))
        os.rmdir(folder)
    check_next_start()


def test_full_map():
    """Stacks that find no room are in the events, and counted."""
    begin()
    workload = program("call_paths")
    recording = record("--bits", 10, "--pool", "16K", "-e", "u:%s:leaf" % workload, "--", workload, 5000, 2)
    ledger = recording.check()
    assert ledger["produced"] == ledger["recorded"] == 10000, ledger
    stackmap("start", "x", "--bits", 10, "--pool", "16K", "--flight", "4M", "-e", "syscalls:sys_enter_*",
             "--comm", "python3")
    run("python3", "-c", "import json")
    found = stat()
    assert found["drops"] > 0 and found["produced"] > 100, found
    check_stat(found)
    stop()
    check_nothing_left()


def test_overrun_of_a_flight():
    begin()
    start("--flight", "2M")
    run(COUNTS, "calls=300000")
    found = stat()
    assert found["produced"] == 300000 and found["overwritten"] > 0, found
    check_stat(found)
    stop()
    check_nothing_left()


def test_nobody_reads():
    """The rings of an instance that is to be drained fill, and what does not fit is counted."""
    begin()
    start("--ring", "64K")
    run(COUNTS, "calls=100000")
    found = stat()
    assert found["produced"] == 100000 and found["counted_only"] + found["ring_full"] > 0, found
    check_stat(found)
    stop()
    check_nothing_left()


def test_a_stopped_reader():
    """It sleeps while events pour in, and goes on: what found no room meanwhile is counted."""
    begin()
    command = "kill -STOP $PPID; %s calls=100000; kill -CONT $PPID" % COUNTS
    recording = record(*OPTIONS, "--ring", "64K", "--", "sh", "-c", command)
    ledger = recording.check()
    assert ledger["produced"] == 100000 and ledger["counted_only"] > 0 < ledger["recorded"], ledger


def test_write_errors():
    """The file cannot be written any more: it is said, it is counted, and what was written reads back."""
    begin()
    command = ("record", "-o", "f.data", "--no-dedup", "--ring", "32M", *OPTIONS, "--", COUNTS, "calls=100000")
    for fault in ("error=EIO", "error=ENOSPC"):
        done = at_step(("write", 10), fault, *command)
        assert done.returncode == 1 and "write_error" in done.stderr, (fault, done.stderr)
        check_printed_ledger(done.stderr)
        read_damaged("f.data")
    check_next_start()


# --- what vanishes, and what comes in masses ---

def tasks_gone(name, tid_shift):
    """The ended tasks among the keys of an instance's map. Some tasks exit during the look."""
    dump = json.loads(run("bpftool", "-j", "map", "dump", "pinned", "%s/pins/map_%s" % (INSTANCE, name)).stdout)
    tids = {entry["formatted"]["key"] >> tid_shift for entry in dump}
    return {tid for tid in tids if not os.path.exists("/proc/%d" % tid)}


def test_storms():
    """Many forks and programs: the maps have no entries of ended tasks."""
    begin()
    start("-e", "sched:sched_process_fork", "-e", "syscalls:sys_enter_execve", "-e", "syscalls:sys_enter_exit_group",
          "--flight", "4M")
    run("sh", "-c", "for i in $(seq 300); do /bin/true & (:) & done; wait")
    check_stat(stat())
    for name, tid_shift in (("deferrals", 0), ("works", 1), ("followed", 0)):
        gone = tasks_gone(name, tid_shift)
        assert not gone & tasks_gone(name, tid_shift), (name, gone)
    stop()
    check_nothing_left()


def test_two_starts_of_one_name():
    """One wins, each time."""
    begin()
    for _ in range(3):
        racers = [subprocess.Popen([STACKMAP, "start", "x", *map(str, OPTIONS)], stderr=subprocess.PIPE) for _ in range(3)]
        messages = [racer.communicate(timeout=SECONDS_MAX)[1].decode() for racer in racers]
        assert sorted(racer.returncode for racer in racers) == [0, 1, 1], messages
        check_works()
        stop()
    check_nothing_left()


def test_a_mount_namespace_vanishes():
    """With the file system that the program was on: its stacks stay, under their path."""
    begin()
    script = "mount -t tmpfs none /mnt && cp %s /mnt/vanished && /mnt/vanished wait </dev/null" % KNOWN
    recording = record("-e", "syscalls:sys_enter_read", "--", "unshare", "-m", "sh", "-c", script)
    recording.check()
    objects_seen = {frame.object for event in recording.events() if event.comm == "vanished" for frame in event.frames}
    assert any(name.endswith("/vanished") for name in objects_seen), objects_seen


def test_the_folder_is_removed_by_hand():
    begin()
    start()
    check_works()
    run("rm", "-r", INSTANCE)
    check_next_start()


def call_inside(cgroup):
    run("sh", "-c", "echo $$ >%s/cgroup.procs && exec %s calls=100" % (cgroup, COUNTS))
    wait_until(lambda: not read_text(cgroup + "/cgroup.procs"))


def test_a_cgroup_vanishes():
    """A cgroup that an instance filters by is removed: the instance has no further events, also not of a new cgroup of the
    same name."""
    begin()
    folder = os.path.join(cgroup2(), "stackmap-faults-%d" % os.getpid())
    os.mkdir(folder)
    try:
        start("--cgroup", folder)
        call_inside(folder)
        os.rmdir(folder)
        run(COUNTS, "calls=50")
        os.mkdir(folder)
        call_inside(folder)
    finally:
        os.rmdir(folder)
    found = stat()
    assert found["produced"] == found["recorded"] == 100, found
    stackmap("reset", "x")
    check_stat(stat())
    stop()
    refused = start("--cgroup", folder, status=None)
    assert refused.returncode and re.fullmatch(r"stackmap: .*%s.*\n" % folder, refused.stderr), refused.stderr
    check_next_start()


def test_affinity_changes():
    """The recorder is moved from one CPU to another while it drains."""
    begin()
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("needs two CPUs")
    moves = "; ".join("taskset -p -c %d $PPID >/dev/null; %s calls=20000" % (cpus[n % 2], COUNTS) for n in range(4))
    ledger = record(*OPTIONS, "--", "sh", "-c", moves).check()
    assert ledger["produced"] == 80000, ledger


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
