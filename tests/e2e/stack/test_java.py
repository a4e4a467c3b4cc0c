#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stacks and functions' names of Java programs (OpenJDK's HotSpot), with nothing prepared for them. The callers of each function
of programs/stack/JavaCalls.java are known by its source, so a single other caller fails the test. The compiler puts functions into
others (inlined functions) unless -Inline keeps it from doing so. At a call, the inlined functions have frames. An interrupted frame
mostly has the name of the outermost function alone."""

import collections
import fcntl
import glob
import os
import re
import shutil
import subprocess
import tempfile

from harness.cases import main, needs, never, one_of_several, stackmap
from harness.recording import marker, record, second_half, user_frames
from harness.skip import Skip

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, os.pardir, "programs", "stack")
FETCH = os.path.join(HERE, os.pardir, os.pardir, "vm", "fetch-package")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "stackmap")
FUNCTION = re.compile(r"\??\s*Java(?:Calls|Virtual)(?:\$\w+)?\.(\w+) \(Java(?:Calls|Virtual)\.java\)")
MADE = re.compile(r"\??\s*Made(\d+)\.(?:run|(?:inner|outer)_(\d+)) \(JavaMakes\.java\)")
ALLOCATES = re.compile(r"JavaAllocates\.(\w+) \(JavaAllocates\.java\)")
INTERPRETED, COMPILED, INLINED = "[java]", "[java compiled]", "[java inlined]"
# SECONDS is the CPU time of each of two threads, RATE the samples per second of it. The tables of docs/internals/languages.md have more of both.
SECONDS, RATE = int(os.environ.get("JAVA_SECONDS", "1")), int(os.environ.get("JAVA_RATE", "1999"))

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


VIRTUAL_CALLERS = {
    "burn": ["work_of_plain", "work_of_resumed", "work_of_returned"],
    "work_of_plain": ["plain"],
    "work_of_resumed": ["recurse"],
    "work_of_returned": ["recurse"],
    "plain": ["run"],
    "recurse": ["run", "recurse"],
}
IN_HEAP = "[frames omitted]"  # stands for the frames of a virtual thread that are not on the stack


def homes():
    """The folders of the JDKs here, by version: 17 and later. The compiler of 17 makes programs for all of them."""
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


def machines():
    """The commands that run a program, by version."""
    return {version: [home + "/bin/java"] for version, home in homes().items()}


def unpack(version, root):
    """Makes a folder with Debian 13's machine of a version, and the libraries that it needs."""
    with tempfile.TemporaryDirectory() as folder:
        for package in "openjdk-%d-jre-headless" % version, "libc6", "libgcc-s1", "libstdc++6", "zlib1g":
            done = subprocess.run([FETCH, package + "/trixie", folder], capture_output=True, text=True, check=False,
                                  env={**os.environ, "XDG_CACHE_HOME": os.path.dirname(CACHE)})
            if done.returncode:
                raise Skip("%s of Debian 13 cannot be fetched: %s" % (package, done.stderr[-200:]))
        os.makedirs(root + "/usr/lib64")
        for name in "lib", "lib64":
            os.symlink("usr/" + name, root + "/" + name)
        for package in glob.glob(folder + "/*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    for name in "mnt", "proc", "tmp", "whole":
        os.makedirs(root + "/" + name, exist_ok=True)


def machine_of_debian_13(version):
    """Debian 13's machine, which is fetched once: its root folder, and the command that runs a program by it. It needs a later C library
    than that of Debian 12, so it runs in a root folder of its own, where /mnt is the current folder."""
    root = os.path.join(CACHE, "java-%d" % version)
    os.makedirs(CACHE, exist_ok=True)
    with open(root + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.exists(root + "/whole"):
            shutil.rmtree(root, ignore_errors=True)
            unpack(version, root)
    command = min(glob.glob(root + "/usr/lib/jvm/*/bin/java"))
    return root, ["unshare", "-m", "sh", "-c",
                  'mount --bind . "$0/mnt" && mount -t proc proc "$0/proc" && exec unshare --root="$0" --wd=/mnt "$@"', root, command[len(root):]]


def needs_callbacks():
    needs("bpf", "perf events")
    version = stackmap("--version", "--verbose").stdout
    if "deferred: in the kernel" not in version:
        raise Skip("this kernel has no callbacks for BPF programs (Linux 6.18)")


def ancestors(name, callers=None):
    """All functions that may be further out than one with this name."""
    found, left = set(), [name]
    while left:
        for caller in (callers or CALLERS).get(left.pop(), []):
            if caller not in found:
                found.add(caller)
                left.append(caller)
    return found


def run(machine, program, *options, events=("-F", RATE), argument=SECONDS):
    os.makedirs("java", exist_ok=True)
    home = min(homes().items())[1]
    subprocess.run([home + "/bin/javac", "-J-XX:TieredStopAtLevel=1", "-d", "java", SOURCES + "/" + program + ".java"], check=True,
                   capture_output=True)
    recording = record(*events, "--", *machine, *options, "-cp", "java", program, argument)
    recording.check()
    return recording.events()


def is_whole_from(root, event):
    """True if the stack ends where the thread begins, and no frame is guessed."""
    return not marker(event) and any(frame.name.startswith(root) for frame in user_frames(event))


def is_whole(event):
    return is_whole_from("thread_native_entry", event)


def functions_of(event):
    """For each user frame: the program's function, or None for other code; what it was found in; and whether it is certain."""
    for frame in user_frames(event):
        match = FUNCTION.match(frame.name) if frame.object in (INTERPRETED, COMPILED, INLINED) else None
        yield match and match[1], frame.object, not frame.name.startswith("?")


def is_named(event):
    """True if all of the stack's generated code has names, from the leaf to run(). A block's kind is not the name of its method."""
    for (name, where, _), frame in zip(functions_of(event), user_frames(event)):
        if where == "[anon]" or frame.name.lstrip("? .") in ("nmethod", "native nmethod"):
            return False
        if name == "run":
            return True
    return False


def check_machine(machine, share, callers_of, *options):
    """The places of functions, and how many pairs are a function and its direct caller."""
    events = [event for event in run(machine, "JavaCalls", *options) if event.comm == "worker"]
    wrong, met, pairs = collections.Counter(), collections.Counter(), collections.Counter()
    # Before the recorder has made libjvm's table, the walk does not know the machine.
    later = second_half(events)
    for event in later:
        frames = list(functions_of(event))
        met.update((name, where) for name, where, _ in frames)
        for (callee, *_), (caller, _, sure) in zip(frames, frames[1:]):
            if callee in CALLERS and caller and sure:
                pairs[caller in CALLERS[callee]] += 1
                wrong[callee, caller] += caller not in callers_of(callee)
    wrong += collections.Counter()
    never(wrong, (wrong.most_common(5), len(later)))
    names = collections.Counter(frame.name for event in later for frame in user_frames(event))
    never({name for name in names if name.lstrip("? ").startswith(".")}, names.most_common(20))
    whole, named = sum(map(is_whole, later)), sum(map(is_named, later))
    print(machine[-1], options, "%d stacks, %.2f %% whole, %.2f %% named, pairs %s" % (
        len(later), 100 * whole / len(later), 100 * named / len(later), dict(pairs)))
    assert len(later) > 50 and whole >= share * len(later) and named >= share * len(later), (len(later), whole, named)
    return met, pairs


def check_compiled_code(machine, share=0.95):
    met, _ = check_machine(machine, share, CALLERS.get, "-XX:-Inline")
    assert {(name, COMPILED) for name in ("burn", "recurse", "work_of_recursion")} <= set(met), met
    assert not any(where == INLINED for name, where in met), met


def check_inlined_functions(machine):
    """All callers of burn(), but not burn() itself, may be inlined. A frame that the machine has just given up has no inlined functions:
    a caller's caller comes next."""
    met, pairs = check_machine(machine, 0.85, ancestors, "-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,JavaCalls::burn")
    assert {("burn", COMPILED), ("work_of_plain", INLINED), ("work_of_recursion", INLINED)} <= set(met), met
    assert ("burn", INLINED) not in met and pairs[True] >= 0.99 * sum(pairs.values()), (met, pairs)


def check_interrupted_functions(machine, share=0.85):
    """Nearly all work is done in burn(), which is inlined."""
    met, _ = check_machine(machine, share, ancestors)
    assert any(where == COMPILED for name, where in met if name), met


def check_the_interpreter(machine):
    met, _ = check_machine(machine, 0.9, CALLERS.get, "-Xint")
    assert {(name, INTERPRETED) for name in CALLERS} <= set(met), met
    assert not any(where in (COMPILED, INLINED) for name, where in met if name), met


def check_made(machine, *options, seconds=SECONDS, rate=RATE):
    """Each class has a number, and all its functions have it, too. The numbers grow, and a class lies where an earlier one did. Returns the
    numbers of frames and of classes."""
    last, count, wrong = 0, 0, collections.Counter()
    for event in run(machine, "JavaMakes", "-Xmx32m", "-XX:+UseSerialGC", *options, events=("-F", rate), argument=seconds):
        frames = [frame for frame in user_frames(event) if not frame.name.startswith("?")]
        found = [match.groups() for match in map(MADE.match, [frame.name for frame in frames]) if match]
        numbers = {int(number) for numbers in found for number in numbers if number}
        count += len(found)
        if len(numbers) > 1 or (numbers and min(numbers) < last):
            wrong[last, tuple(sorted(numbers))] += 1
        last = max(numbers | {last})
    never(wrong, (wrong.most_common(5), count))
    print(machine[-1], options, "%d frames, %d classes" % (count, last))
    return count, last


def virtual_ancestors(name):
    return ancestors(name, VIRTUAL_CALLERS)


def check_virtual_threads(machine, rounds, callers_of, *options):
    """A virtual thread that goes on after it was suspended has only its innermost frames on the stack. One frame stands for the others, and the
    stack goes on with the function that runs virtual threads."""
    wrong, kinds, stacks = collections.Counter(), collections.Counter(), 0
    for event in second_half(run(machine, "JavaVirtual", *options, argument=rounds)):
        frames = [(name or IN_HEAP * (frame.name == IN_HEAP), frame.name, sure)
                  for frame, (name, _, sure) in zip(user_frames(event), functions_of(event))]
        if not any(name in VIRTUAL_CALLERS for name, *_ in frames):
            continue
        stacks += 1
        kinds[is_whole(event), any(name == IN_HEAP for name, *_ in frames)] += 1
        for (callee, *_), (caller, label, sure) in zip(frames, frames[1:]):
            if callee in VIRTUAL_CALLERS and caller and sure:
                wrong[callee, caller] += caller not in [*callers_of(callee), *[IN_HEAP] * (callee in ("plain", "recurse"))]
            if callee == IN_HEAP:
                wrong[callee, label] += not label.startswith("jdk.internal.vm.Continuation.run ")
    wrong += collections.Counter()
    never(wrong, (wrong.most_common(5), stacks))
    print(machine[-1], options, "%d stacks of virtual threads: (whole, frames in the heap) %s" % (stacks, dict(kinds)))
    assert stacks > 50 and kinds[True, True] >= 0.8 * stacks, (stacks, kinds)


def check_probes(machine, libc="libc.so.6"):
    """Both callers of allocate() call it equally often. The first stacks may come before libjvm's table."""
    for option in ("-Xint", "-XX:-Inline", "-XX:+Inline"):
        events = run(machine, "JavaAllocates", option, events=("-e", "u:%s:malloc" % libc), argument=4000)
        called = [event for event in events if any(frame.name.startswith("inflateInit2_") for frame in user_frames(event))]
        found = collections.Counter()
        later = second_half(called)
        for event in later:
            matches = [ALLOCATES.match(frame.name) for frame in user_frames(event) if frame.object in (INTERPRETED, COMPILED, INLINED)]
            found[is_whole_from("JavaMain", event), *[match[1] for match in matches if match]] += 1
        print(machine[-1], option, len(later), found.most_common(4))
        expected = [(True, "allocate", caller, "main") for caller in ("first", "second")]
        first, second = (found[key] for key in expected)
        # A loaded machine may make libjvm's table too late: then the frames have no names, which the shares below count.
        never({key for key in found if key[0] and key[1:]} - set(expected) or abs(first - second) > 8, found.most_common(5))
        assert first + second >= 0.95 * len(later) > 1000, found.most_common(5)


def newest_machine():
    needs_callbacks()
    found = machines()
    return found[max(found)]


@one_of_several
def test_compiled_code():
    check_compiled_code(newest_machine())


@one_of_several
def test_inlined_functions():
    check_inlined_functions(newest_machine())


@one_of_several
def test_interrupted_functions():
    check_interrupted_functions(newest_machine())


@one_of_several
def test_the_interpreter():
    check_the_interpreter(newest_machine())


@one_of_several
def test_virtual_threads():
    needs_callbacks()
    found = machines()
    if max(found) < 21:
        raise Skip("no JDK here has virtual threads (21 or later)")
    check_virtual_threads(found[max(found)], 100, VIRTUAL_CALLERS.get, "-Xint")
    check_virtual_threads(found[max(found)], 1500, VIRTUAL_CALLERS.get, "-XX:-Inline")
    check_virtual_threads(found[max(found)], 1500, virtual_ancestors)


@one_of_several
def test_classes_that_replace_others():
    needs_callbacks()
    found = machines()
    for options in ("-Xint",), ():
        count, last = check_made(found[min(found)], *options)
        assert count > 100 and last > 40, (count, last)


@one_of_several
def test_a_hundred_thousand_frames_of_classes_that_replace_others():
    needs_callbacks()
    for machine in machines().values():
        count = 0
        while count < 100000:
            for options in ("-Xint",), ():
                count += check_made(machine, *options, seconds=8, rate=4999)[0]


@one_of_several
def test_probes_of_functions_that_java_calls():
    check_probes(newest_machine())


def check_all(machine, share=0.95):
    check_compiled_code(machine, share)
    check_interrupted_functions(machine, min(share, 0.85))
    check_inlined_functions(machine)
    check_the_interpreter(machine)


@one_of_several
def test_older_machines():
    needs_callbacks()
    found = machines()
    if len(found) == 1:
        raise Skip("there is one JDK here, which the other cases use")
    for version in sorted(found)[:-1]:
        check_all(found[version])
        check_probes(found[version])


@one_of_several
def test_machine_21_of_debian_13():
    needs_callbacks()
    root, machine = machine_of_debian_13(21)
    check_probes(machine, root + "/usr/lib/x86_64-linux-gnu/libc.so.6")
    check_virtual_threads(machine, 100, VIRTUAL_CALLERS.get, "-Xint")
    check_virtual_threads(machine, 1500, virtual_ancestors)
    check_all(machine, 0.75)  # more samples are in stubs and entries of functions there, whose callers are guessed


if __name__ == "__main__":
    main(globals())
