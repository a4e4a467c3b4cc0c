# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A recorder that runs, the processes that read files for it, and the ways to end it."""

import contextlib
import os
import platform
import signal
import struct
import subprocess
import time

from harness.cases import SECONDS_MAX, STACKMAP, Skip, needs_command
from harness.recording import Recording

ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)  # of the command; the last if we are asked twice


def needs_root():
    if os.geteuid():
        raise Skip("this needs root")
    needs_command("setpriv", "--version")


def status(pid):
    with open("/proc/%d/status" % pid) as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)


def wait_for(what, condition):
    """Waits until the condition holds, for as long as a command may take."""
    end = time.monotonic() + SECONDS_MAX
    while not condition():
        assert time.monotonic() < end, "not in time: " + what
        time.sleep(0.01)


def children(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
        return [int(word) for word in file.read().split()]


def symbolizer_of(pid):
    """The first child that no execve has made another program: it opens the files of root."""
    own = os.readlink("/proc/%d/exe" % pid)
    found = [child for child in children(pid) if os.readlink("/proc/%d/exe" % child) == own]
    return min(found) if found else None


def sandbox_of(pid):
    """The sandbox that parses these files."""
    symbolizer = symbolizer_of(pid)
    found = [child for child in children(symbolizer) if status(child)["Seccomp"] == "2"] if symbolizer else []
    return found[0] if found else None


@contextlib.contextmanager
def recording(*arguments, output="f.data", prefix=()):
    """A recorder that runs: everything is attached, and it has given up what it does not need."""
    recorder = subprocess.Popen([*prefix, STACKMAP, "record", "-o", output, *arguments], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        wait_for("privileges are given up",
                 lambda: recorder.poll() is not None or status(recorder.pid)["NoNewPrivs"] == "1")
        assert recorder.poll() is None, recorder.stderr.read()
        yield recorder
    finally:
        if recorder.poll() is None:
            recorder.kill()
        recorder.communicate()


def end(recorder, output="f.data"):
    """As Ctrl-C does."""
    recorder.send_signal(signal.SIGINT)
    return finished(recorder, output)


def finished(recorder, output="f.data"):
    messages = recorder.communicate(timeout=SECONDS_MAX)[1]
    assert recorder.returncode in (0, *(128 + end for end in ENDINGS)), (recorder.returncode, messages)
    return Recording(output, messages)


def waits_for_answer(pid):
    """True if the recorder is in a poll() of some seconds: it waits for an answer. Other waits are shorter, or have no end."""
    try:
        with open("/proc/%d/syscall" % pid) as file:
            words = file.read().split()
    except (FileNotFoundError, ProcessLookupError):
        raise AssertionError("the process that asks the sandbox has ended") from None
    return len(words) > 3 and 1000 < poll_timeout(pid, words[0], int(words[3], 16)) < 20000


def poll_timeout(pid, number, argument):
    """Milliseconds that a poll() waits at most, 0 for no limit: its third argument, or, for the system call ppoll(), the time at that
    address."""
    if (platform.machine(), number) != ("aarch64", "73"):
        return argument
    if not argument:
        return 0
    with open("/proc/%d/mem" % pid, "rb", buffering=0) as memory:
        memory.seek(argument)
        seconds, nanoseconds = struct.unpack("qq", memory.read(16))
    return seconds * 1000 + nanoseconds // 1000000


def stop_idle_sandbox(pid, symbolizer):
    """Not while it makes an unwind table."""
    def is_stopped_idle():
        os.kill(pid, signal.SIGSTOP)
        if waits_for_answer(symbolizer):
            os.kill(pid, signal.SIGCONT)
            return False
        return True
    wait_for("the sandbox has nothing to do", is_stopped_idle)


def end_with_stopped_sandbox(recorder, then):
    """The sandbox is stopped before it gets its first question about names. Then it gets a signal; without one, the
    recorder is told to end once more."""
    pid = sandbox_of(recorder.pid)
    symbolizer = symbolizer_of(recorder.pid)
    stop_idle_sandbox(pid, symbolizer)
    recorder.send_signal(signal.SIGINT)
    wait_for("the sandbox is asked", lambda: waits_for_answer(symbolizer))
    if then:
        os.kill(pid, then)
    else:
        recorder.send_signal(signal.SIGINT)
    return finished(recorder)


def recording_of_ls():
    return recording("-e", "syscalls:sys_enter_getdents64", "--", "sh", "-c", "ls -R /etc; exec sleep 1000")


def wait_for_sleep(recorder):
    wait_for("ls has run", lambda: any(status(child)["Name"] == "sleep" for child in children(recorder.pid)))
