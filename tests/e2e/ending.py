#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Ends commands at random moments, by SIGINT, SIGTERM and SIGKILL, in every way of recording and reading, and looks at what
is left: how long the end took, processes, the BPF file system, files, and whether the account of each recording balances.

usage: ending.py STACKMAP [TIMES [SECONDS [SEED]]]
   TIMES    ends, all in all (200)
   SECONDS  within which SIGINT and SIGTERM must have ended a command (2)
Needs root. It has a mount namespace with a BPF file system of its own."""

import collections
import ctypes
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOME = "/sys/fs/bpf/stackmap"
CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 1 << 14, 1 << 18
PR_SET_CHILD_SUBREAPER = 36
SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGKILL
LEFT_SECONDS = 60  # until the kernel has let go of what was killed, on a machine that does other things
LONGEST = 2.5      # after which a signal comes at the latest

# How a command is run, whether instances `drain` and `flight` are there for it, what it may leave: names of files.
Mode = collections.namedtuple("Mode", "words instances files")
RECORDED = r"f\.data(\.old)?"

MODES = {
    "samples": Mode("record -o f.data -a -F 999", False, RECORDED),
    "task switches": Mode("record -o f.data -a -e sched:sched_switch", False, RECORDED),
    "a command": Mode("record -o f.data -e syscalls:sys_enter_* -- sleep 1000", False, RECORDED),
    "a process": Mode("record -o f.data -F 999 -p {self}", False, RECORDED),
    "flight": Mode("record -o f.data -a -F 999 --flight 4M", False, RECORDED),
    "rotation": Mode("record -o f.data -a -F 999 --rotate 1s", False, r"f\.data\.\d+(\.old)?"),
    "a pipe": Mode("record -o - -a -F 999", False, "piped"),
    "an instance": Mode("record -o f.data --instance drain", True, RECORDED),
    "a snapshot": Mode("record -o f.data --instance flight", True, RECORDED),
    "events as they come": Mode("script --instance drain --follow", True, "piped"),
    "top": Mode("top --batch --delay 1", False, "piped"),
    "start": Mode("start other -F 99", False, ""),
    "doctor": Mode("doctor", False, "piped"),
    "export": Mode("export -f perf-script -o out {large}", False, "out"),
    "flamegraph": Mode("flamegraph -o out {large}", False, "out"),
    "merge": Mode("merge -o f.data {large} {large}", False, RECORDED),
    "report": Mode("report {large}", False, "piped"),
}


def enter_own_mounts():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWNS) or libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None) or libc.mount(
            b"bpf", b"/sys/fs/bpf", b"bpf", 0, None):
        sys.exit("no BPF file system of our own: %s" % os.strerror(ctypes.get_errno()))


def adopt_orphans():
    """A process that its parent leaves behind becomes ours."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children():
    with open("/proc/self/task/%d/children" % os.getpid(), encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


def name_of(pid):
    try:
        with open("/proc/%d/comm" % pid, encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return ""


class Ending:
    """The commands of one program, ended at random."""

    def __init__(self, stackmap, seconds, seed):
        self.stackmap, self.seconds = stackmap, seconds
        self.random = random.Random(seed)
        self.longest = 0
        self.large = None
        adopt_orphans()

    def run(self, *words, status=0):
        done = subprocess.run([self.stackmap, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        assert status is None or done.returncode == status, (words, done)
        return done

    def make_large(self):
        """Makes a recording that takes a while to read."""
        self.run("record", "-q", "-o", "large.data", "-e", "syscalls:sys_*", "--", "ls", "-lR", "/usr/include")
        self.large = os.path.abspath("large.data")

    def load(self):
        """Something to record: it makes system calls and switches until it is killed."""
        return subprocess.Popen(["sh", "-c", "while :; do sleep 0.01; ls / >/dev/null; done"], stdin=subprocess.DEVNULL)

    def begin(self, mode):
        words = mode.words.format(self=os.getpid(), large=self.large).split()
        with open("piped", "wb") as piped, open("../messages", "wb") as messages:
            return subprocess.Popen([self.stackmap, *words], stdin=subprocess.DEVNULL, stdout=piped, stderr=messages)

    def end(self, process, sent):
        """Lets the command run for a while, signals it, and checks that it ends within its limit."""
        time.sleep(self.random.random() ** 2 * LONGEST)
        process.send_signal(sent)
        began = time.monotonic()
        try:
            process.wait(timeout=LEFT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        took = time.monotonic() - began
        self.longest = max(self.longest, took)
        assert took < self.seconds, "it took %.1f s" % took
        return process.returncode

    def reap(self, known):
        for pid in children():
            if pid not in known:
                os.waitpid(pid, os.WNOHANG)

    def check_processes(self, known):
        """After a killed recorder only the command that it has started may still run."""
        deadline = time.monotonic() + LEFT_SECONDS
        while True:
            self.reap(known)
            left = [pid for pid in children() if pid not in known]
            for pid in left:
                if name_of(pid) == "sleep":
                    os.kill(pid, signal.SIGKILL)
            if not left:
                return
            assert time.monotonic() < deadline, "left: %s" % [(pid, name_of(pid)) for pid in left]
            time.sleep(0.01)

    def check_bpf(self, killed):
        """Objects that a killed process leaves in the BPF file system are removed by the next command."""
        if os.path.exists(HOME + "/other"):
            self.run("stop", "other")
        if killed:
            self.run("record", "-q", "-o", "/dev/null", "-F", "99", "--", "true")
        assert not os.path.exists(HOME), "left in %s: %s" % (HOME, os.listdir(HOME))

    def check_recording(self, path, killed):
        """Each event is in the recording or counted as lost. Whole blocks of a killed recorder's file can be read."""
        done = self.run("report", "--json", path, status=None)
        assert killed or not re.search(r"damaged|ends at byte", done.stderr), done.stderr
        if not done.stdout:
            assert killed, done.stderr
            return
        report = json.loads(done.stdout)
        ledger = report.get("ledger")
        assert ledger or killed, report.keys()
        if ledger:
            assert ledger["produced"] == ledger["recorded"] + ledger["counted_only"] + sum(ledger["lost"].values()), ledger
            assert sum(stack["count"] for stack in report["stacks"]) == ledger["recorded"] + ledger["counted_only"], ledger

    def check_files(self, mode, killed):
        for name in os.listdir("."):
            assert name == "piped" or re.fullmatch(mode.files, name), "left: %s" % name
            if name.startswith("f.data"):
                self.check_recording(name, killed)

    def begin_instances(self):
        self.run("start", "drain", "-q", "-F", "999")
        self.run("start", "flight", "-q", "-F", "999", "--flight", "4M")
        time.sleep(0.2)

    def once(self, name, sent):
        mode = MODES[name]
        os.mkdir("case")
        os.chdir("case")
        if mode.instances:
            self.begin_instances()
        known = children()
        process = self.begin(mode)
        status = self.end(process, sent)
        self.check_processes(known)
        if mode.instances:
            self.run("stop", "drain", "flight")
        self.check_bpf(sent == signal.SIGKILL)
        self.check_files(mode, status == -signal.SIGKILL)
        os.chdir("..")
        shutil.rmtree("case")

    def clean(self):
        """After something went wrong: the next one begins as the first."""
        os.chdir(os.path.dirname(self.large))
        shutil.rmtree("case", ignore_errors=True)
        for name in ("drain", "flight", "other"):
            self.run("stop", name, status=None)
        self.run("record", "-q", "-o", "/dev/null", "-F", "99", "--", "true", status=None)

    def messages(self):
        with open(os.path.join(os.path.dirname(self.large), "messages"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def all(self, times, told=print):
        """Every mode as often as the others, each with every signal. How many went wrong."""
        load = self.load()
        wrong = 0
        try:
            self.make_large()
            for turn in range(times):
                name = list(MODES)[turn % len(MODES)]
                sent = SIGNALS[turn // len(MODES) % len(SIGNALS)]
                try:
                    self.once(name, sent)
                except (AssertionError, OSError, ValueError) as error:
                    wrong += 1
                    told("%s, %s: %s\n%s" % (name, sent.name, error, self.messages()))
                    self.clean()
        finally:
            load.kill()
            load.wait()
        return wrong


def main():
    if not 2 <= len(sys.argv) <= 5:
        sys.exit("usage: ending.py STACKMAP [TIMES [SECONDS [SEED]]]")
    stackmap = os.path.realpath(sys.argv[1])
    times, seconds, seed = (int(word) for word in sys.argv[2:] + ["200", "2", "0"][len(sys.argv) - 2:])
    enter_own_mounts()
    with tempfile.TemporaryDirectory(prefix="stackmap-ending-") as folder:
        os.chdir(folder)
        ending = Ending(stackmap, seconds, seed)
        wrong = ending.all(times)
        os.chdir("/")
    print("%d ends, %d wrong; the longest took %.2f s" % (times, wrong, ending.longest))
    return wrong != 0


if __name__ == "__main__":
    sys.exit(main())
