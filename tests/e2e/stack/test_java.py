#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stacks of Java programs (OpenJDK's HotSpot), with nothing prepared for the walk. The callers of each function of
programs/stack/JavaCalls.java are known by its source. The machine itself says at its end which function its compiled code is: one
that the compiler has not put into another one, as -Inline asks, so a single other caller fails the test."""

import bisect
import collections
import glob
import os
import re
import shutil
import subprocess

from harness.cases import main, needs, never, one_of_several, stackmap
from harness.recording import marker, record, second_half, user_frames
from harness.skip import Skip

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs", "stack", "JavaCalls.java")
FUNCTION = re.compile(r"\bJavaCalls(?:\$\w+)?(?:\.|::)(\w+)")
SECONDS, RATE = 1, 1999

WORK = ["plain", "recursion", "shape", "sort", "failure", "reflection"]
CALLERS = {
    "burn": ["work_of_" + what for what in WORK],
    "work_of_plain": ["plain"],
    "work_of_recursion": ["recurse"],
    "work_of_shape": ["area"],
    "work_of_sort": ["compare"],
    "work_of_failure": ["failing"],
    "work_of_reflection": ["reflected"],
    "plain": ["run"],
    "recurse": ["run", "recurse"],
    "area": ["shapes"],
    "shapes": ["run"],
    "sorted": ["run"],
    "failing": ["run"],
    "reflecting": ["run"],
}


def machines():
    """The directories of the JDKs here whose compiler takes the program: 17 and later."""
    found = {}
    for compiler in glob.glob("/usr/lib/jvm/*/bin/javac") + [shutil.which("javac") or ""]:
        if compiler and os.access(compiler, os.X_OK):
            home = os.path.dirname(os.path.dirname(os.path.realpath(compiler)))
            version = subprocess.run([compiler, "-version"], capture_output=True, text=True, check=False).stdout
            match = re.match(r"javac (\d+)", version)
            if match and int(match[1]) in (17, 21, 25):
                found[int(match[1])] = home
    if not found:
        raise Skip("no JDK 17, 21 or 25 here (Debian package openjdk-17-jdk-headless)")
    return found


def needs_callbacks():
    needs("bpf", "perf events")
    version = stackmap("--version", "--verbose").stdout
    if "deferred: in the kernel" not in version:
        raise Skip("this kernel has no callbacks for BPF programs (Linux 6.18)")


class Code:
    """What the machine says about its code: a line for each piece, with address, bytes and function."""

    def __init__(self, process):
        path = "/tmp/perf-%d.map" % process
        with open(path) as file:
            lines = [line.rstrip("\n").split(" ", 2) for line in file]
        os.unlink(path)
        self.pieces = sorted((int(start, 16), int(count, 16), name) for start, count, name in lines)
        self.starts = [piece[0] for piece in self.pieces]

    def function(self, address):
        index = bisect.bisect_right(self.starts, address) - 1
        if index < 0 or address >= self.starts[index] + self.pieces[index][1]:
            return None
        match = FUNCTION.search(self.pieces[index][2])
        return match[1] if match else None


def run(home, *options):
    os.makedirs("java", exist_ok=True)
    subprocess.run([home + "/bin/javac", "-J-XX:TieredStopAtLevel=1", "-d", "java", SOURCE], check=True, capture_output=True)
    recording = record("-F", RATE, "--", home + "/bin/java", "-XX:+UnlockDiagnosticVMOptions", "-XX:+DumpPerfMapAtExit", *options, "-cp", "java",
                       "JavaCalls", SECONDS)
    recording.check()
    return [event for event in recording.events() if event.comm == "worker"]


def is_whole(event):
    """True if the stack ends where the thread begins, and no frame is guessed."""
    return not marker(event) and any(frame.name.startswith("thread_native_entry") for frame in user_frames(event))



def check_machine(home, share, *options):
    events = run(home, *options)
    with open("java.pid") as file:
        code = Code(int(file.read()))
    wrong, met = collections.Counter(), set()
    # Before the recorder has made libjvm's table, the walk does not know the machine.
    later = second_half(events)
    for event in later:
        frames = [frame for frame in user_frames(event) if not frame.name.startswith("[")]
        functions = [code.function(frame.address) if frame.object == "[anon]" else None for frame in frames]
        is_sure = [not frame.name.startswith("?") for frame in frames]
        met.update(functions)
        for callee, caller, sure in zip(functions, functions[1:], is_sure[1:]):
            if callee in CALLERS and caller and sure and caller not in CALLERS[callee]:
                wrong[callee, caller] += 1
    never(wrong, (wrong.most_common(5), len(later)))
    whole = sum(map(is_whole, later))
    assert len(later) > 50 and whole >= share * len(later), (len(later), whole)
    return met


@one_of_several
def test_compiled_code():
    needs_callbacks()
    for home in machines().values():
        met = check_machine(home, 0.95, "-XX:-Inline")
        assert {"burn", "recurse", "work_of_recursion"} <= met, met


@one_of_several
def test_the_interpreter():
    needs_callbacks()
    found = machines()
    check_machine(found[min(found)], 0.9, "-Xint")


if __name__ == "__main__":
    main(globals())
