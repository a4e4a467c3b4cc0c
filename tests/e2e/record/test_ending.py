#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""How a recording ends: by signals in any phase, with its command, when its output fails, and when others are in the way. Runs
in a mount namespace with a BPF file system of its own."""

import fcntl
import os
import resource
import signal
import stat
import subprocess
import time

import ending
from harness.cases import SECONDS_MAX, STACKMAP, Skip, main, needs, run, stackmap
from harness.engine_folder import BPFFS, HOME, enter_own_mounts, fresh_bpffs
from harness.recording import Recording, record
from harness.waiting import read_text, wait_until

OTHER = 65533
SMALL = "small.data"
SOURCE = ("-e", "sched:sched_switch")
ENDED_SECONDS = 30  # what waited for ever, or for a minute, is over long before


def recorder(*arguments, output="f.data", **options):
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    return subprocess.Popen([STACKMAP, "record", "-o", output, *map(str, arguments)], **options)


def ended(process, seconds=SECONDS_MAX):
    """Its exit status and messages."""
    try:
        messages = process.communicate(timeout=seconds)[1].decode()
    finally:
        process.kill()
    return process.returncode, messages


def small():
    needs("bpf", "raw tracepoints")
    return record(*SOURCE, "--", "true", output=SMALL).path


# --- before the first event ---

def blocked_start(*words):
    """A command that waits for the lock which a start holds. The lock is held until this process closes it."""
    fresh_bpffs()
    os.mkdir(HOME, 0o711)
    lock = os.open(HOME, os.O_RDONLY | os.O_DIRECTORY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    process = subprocess.Popen([STACKMAP, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    wait_until(lambda: "clock_nanosleep" in read_text("/proc/%d/wchan" % process.pid) or
               "nanosleep" in read_text("/proc/%d/wchan" % process.pid) or process.poll() is not None)
    return process, lock


def test_a_signal_ends_the_wait_for_a_lock():
    """No event was recorded, no file is made, and no command is started."""
    needs("bpf", "raw tracepoints")
    for sent in signal.SIGINT, signal.SIGTERM:
        for words in (("record", "-o", "f.data", *SOURCE, "--", "touch", "started"), ("start", "x"), ("top", "-b")):
            process, lock = blocked_start(*words)
            process.send_signal(sent)
            status, messages = ended(process, ENDED_SECONDS)
            os.close(lock)
            assert (status, messages) == (-sent, ""), (words, status, messages)
            assert os.listdir(".") == [] and os.listdir(HOME) == [], (os.listdir("."), os.listdir(HOME))
            run("umount", BPFFS)


def test_a_signal_ends_loading():
    """A signal at any moment of loading leaves no file or a complete recording."""
    needs("bpf", "raw tracepoints")
    fresh_bpffs()
    for step in range(12):
        process = recorder("-a", *SOURCE)
        time.sleep(0.1 * step)
        process.send_signal(signal.SIGINT)
        status, messages = ended(process, ENDED_SECONDS)
        assert status in (0, -signal.SIGINT), (status, messages)
        assert os.listdir(".") == ([] if status else ["f.data"]), os.listdir(".")
        if not status:
            Recording("f.data", messages).check()
        assert not os.path.exists(HOME), [*os.walk(HOME)]
        for name in os.listdir("."):
            os.unlink(name)


def test_what_a_killed_start_left_goes_with_the_next_recording():
    needs("bpf", "raw tracepoints")
    fresh_bpffs()
    for name in ("_new-x", "_gone-y-1"):
        os.makedirs("%s/%s/pins" % (HOME, name), 0o700)
    record("-q", *SOURCE, "--", "true")
    assert not os.path.exists(HOME), [*os.walk(HOME)]


def test_a_fifo_that_nobody_reads():
    needs("bpf", "raw tracepoints")
    os.mkfifo("fifo")
    process = recorder(*SOURCE, "--", "touch", "started", output="fifo")
    wait_until(lambda: "nanosleep" in read_text("/proc/%d/wchan" % process.pid) or process.poll() is not None)
    process.send_signal(signal.SIGINT)
    assert ended(process, ENDED_SECONDS) == (-signal.SIGINT, "")
    assert os.listdir(".") == ["fifo"], os.listdir(".")


def test_a_fifo_of_ours():
    needs("bpf", "raw tracepoints")
    os.mkfifo("fifo")
    process = recorder("-q", *SOURCE, "--", "true", output="fifo")
    with open("fifo", "rb") as fifo, open("f.data", "wb") as copy:
        copy.write(fifo.read())
    assert ended(process) == (0, "")
    Recording("f.data").check()


# --- what others put in the way ---

def check_refused(words, *said):
    done = run(STACKMAP, *words, status=1)
    for word in said:
        assert word in done.stderr, (words, done.stderr)


def outputs(name):
    """Each command that makes a file."""
    path = small()
    return (("record", "-o", name, *SOURCE, "--", "touch", "started"), ("export", "-o", name, path),
            ("flamegraph", "-o", name, path), ("merge", "-o", name, path))


def needs_root():
    if os.geteuid():
        raise Skip("only root makes files of others")


def test_a_fifo_of_another_user_receives_nothing():
    needs_root()
    os.chmod(".", 0o1777)
    os.mkfifo("fifo")
    os.chmod("fifo", 0o666)
    os.chown("fifo", OTHER, OTHER)
    reader = os.open("fifo", os.O_RDONLY | os.O_NONBLOCK)
    for words in outputs("fifo"):
        check_refused(words, "fifo: a FIFO or device of user %d" % OTHER)
        assert os.read(reader, 1) == b""
    os.close(reader)
    assert not os.path.exists("started")


def test_a_link_of_another_user_is_not_followed():
    needs_root()
    with open("precious", "w", encoding="ascii") as file:
        file.write("kept")
    os.symlink("precious", "link")
    os.chown("link", OTHER, OTHER, follow_symlinks=False)
    for words in outputs("link"):
        check_refused(words, "link: a link of user %d" % OTHER)
    assert read_text("precious") == "kept" and not os.path.exists("started")
    assert sorted(os.listdir(".")) == ["link", "precious", SMALL], os.listdir(".")


def test_the_output_is_checked_before_the_command_starts():
    needs("bpf", "raw tracepoints")
    with open("f.data", "w", encoding="ascii") as file:
        file.write("older")
    os.mkdir("f.data.old")
    done = stackmap("record", "-o", "f.data", *SOURCE, "--", "touch", "started", status=1)
    assert "f.data.old: Is a directory" in done.stderr, done.stderr
    assert sorted(os.listdir(".")) == ["f.data", "f.data.old"], os.listdir(".")


def test_standard_output_by_its_other_name():
    text = stackmap("export", small()).stdout
    assert text and stackmap("export", "-o", "/dev/stdout", SMALL).stdout == text


# --- the command ---

def ignore_children():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def test_a_caller_that_ignores_its_children():
    """The caller may ignore SIGCHLD, and the recorder inherits this."""
    needs("bpf", "raw tracepoints")
    for words, wanted in (("exit 7", 7), ("kill -TERM $$", 128 + signal.SIGTERM)):
        process = recorder("-q", *SOURCE, "--", "sh", "-c", words, preexec_fn=ignore_children)
        assert ended(process, ENDED_SECONDS) == (wanted, ""), words


def limit_file_size():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))


def test_a_command_outlives_its_recording():
    """The file cannot be written any more; the command is waited for, and not harmed."""
    needs("bpf", "raw tracepoints")
    process = recorder("-a", "-e", "syscalls:sys_enter_*", "--", "sh", "-c", "until test -e go; do ls / >&2; done; mkdir finished",
                       preexec_fn=limit_file_size, stderr=subprocess.PIPE)
    said = b""
    while b"what was written before is whole" not in said:
        part = os.read(process.stderr.fileno(), 4096)
        assert part, said
        said += part
    assert process.poll() is None
    os.mknod("go", stat.S_IFREG | 0o600)
    status, _ = ended(process)
    assert status == 1 and os.path.isdir("finished"), (status, os.listdir("."))


def test_a_command_ends_with_a_recording_that_failed_if_asked():
    needs("bpf", "raw tracepoints")
    process = recorder("-a", "-e", "syscalls:sys_enter_*", "--", "sh", "-c", "while :; do ls / >&2; done",
                       preexec_fn=limit_file_size)
    said = b""
    while b"what was written before is whole" not in said:
        said += os.read(process.stderr.fileno(), 4096)
    process.send_signal(signal.SIGTERM)
    assert ended(process)[0] == 1


# --- while it records, and at the end ---

def test_a_reader_that_stopped_stops_nobody():
    """The pipe is full and has no active reader: one signal ends the recorder."""
    needs("bpf", "raw tracepoints")
    reader, writer = os.pipe()
    process = recorder("-q", "-a", "-e", "syscalls:sys_enter_*", output="-", stdout=writer)
    os.close(writer)
    pipe_bytes = fcntl.fcntl(reader, fcntl.F_GETPIPE_SZ)

    def is_full():
        run("ls", "-R", "/etc", status=None)
        waiting = bytearray(4)
        fcntl.ioctl(reader, 0x541B, waiting)  # FIONREAD
        return int.from_bytes(waiting, "little") > pipe_bytes - 8192

    wait_until(is_full)
    process.send_signal(signal.SIGTERM)
    status, messages = ended(process, ENDED_SECONDS)
    os.close(reader)
    assert status == 1 and "Interrupted" in messages, (status, messages)


def test_ends_at_random_moments():
    """The short form of ending.py: each way of recording and reading, ended by each signal."""
    needs_root()
    needs("bpf", "perf events", "raw tracepoints")
    fresh_bpffs()
    told = []
    tried = ending.Ending(STACKMAP, SECONDS_MAX, os.environ.get("STACKMAP_TEST_SEED", "ends"))
    wrong = tried.all(len(ending.MODES) * len(ending.SIGNALS), told.append)
    assert not wrong, "\n".join(told)


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
