# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Runs the cases of one end-to-end test: each in an empty folder of its own, reported in cmocka's words, which
scripts/test-results counts. A case is a function test_*; it fails by AssertionError and is skipped by Skip.

usage of a test: test_NAME.py STACKMAP PROGRAMS [CASE]... [-CASE]... [1/PARTS]

PROGRAMS is where the workloads were built. -CASE is left out. 1/2 runs each second case; the bytes of STACKMAP, which has the commit in it,
draw which of the first two is among them.
"""

import fcntl
import functools
import gc
import hashlib
import os
import platform
import pty
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
import traceback

from harness.skip import Skip

SECONDS_MAX = 120  # only against what never happens: a command that hangs
SKIPPED = 77
SAID = "STACKMAP_DOCTOR_SAID"  # a file with the output of doctor in the environment of this process

if len(sys.argv) < 3:
    sys.exit("usage: %s STACKMAP PROGRAMS [CASE]... [-CASE]... [1/PARTS]" % sys.argv[0])

STACKMAP = os.path.realpath(sys.argv[1])
PROGRAMS = os.path.realpath(sys.argv[2])
OWN = tempfile.TemporaryDirectory(prefix="stackmap-e2e-programs-")


@functools.lru_cache(maxsize=None)
def program(name, called=None):
    """A private copy of a program, so that probes in it and filters by its name concern no other tasks."""
    built = os.path.join(PROGRAMS, name)
    if platform.machine() != "x86_64" and not os.path.exists(built):
        raise Skip("the test program %s was not built on this architecture" % name)
    own = os.path.join(os.path.realpath(OWN.name), called or os.path.basename(name))
    return shutil.copy(built, own) if os.path.isfile(built) else built


class NoExcuse(AssertionError):
    """What is wrong on every machine, however much else that has to do."""


def never(is_wrong, what):
    if is_wrong:
        raise NoExcuse(what)


def unexcused(check):
    """All that the function finds wrong is wrong on every machine."""
    @functools.wraps(check)
    def checked(*arguments, **options):
        try:
            return check(*arguments, **options)
        except AssertionError as error:
            raise NoExcuse(error) from error
    return checked


def run(*command, status=0, **options):
    """Runs a command to its end; its exit status must be `status`, or anything if that is None."""
    options = {"stdin": subprocess.DEVNULL, "timeout": SECONDS_MAX, **options}
    done = subprocess.run([str(word) for word in command], capture_output=True, check=False, **options)
    done.stdout, done.stderr = (stream.decode(errors="replace") for stream in (done.stdout, done.stderr))
    never(status not in (None, done.returncode), "%s: exit status %d, not %s\n%s%s" % (
        " ".join(map(str, command)), done.returncode, status, done.stdout[-2000:], done.stderr[-2000:]))
    return done


def stackmap(*arguments, **options):
    return run(STACKMAP, *arguments, **options)


@functools.lru_cache(maxsize=None)
def features():
    """doctor's result for this machine: feature -> None if it works, else the reason. ./setup asks once for all tests."""
    found, last = {}, None
    if SAID in os.environ:
        with open(os.environ[SAID], encoding="utf-8") as file:
            said = file.read()
    else:
        said = stackmap("doctor", status=None).stdout
    for line in said.splitlines():
        if line.startswith(("yes  ", "no   ")):
            last = line[5:29].strip()
            found[last] = None if line.startswith("yes") else ""
        elif line.strip().startswith("why:") and last:
            found[last] = line.split("why:", 1)[1].strip()
    return found


def on_terminal(command, size=0, **variables):
    """The output of a command on a terminal of so many columns."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", 0, size, 0, 0))
    process = subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=subprocess.PIPE,
                               env={**os.environ, "TERM": "dumb", **variables})
    os.close(terminal)
    shown = b""
    while True:
        try:
            data = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        shown += data
    os.close(master)
    assert not process.communicate()[1]
    return process.returncode, shown.decode().replace("\r\n", "\n")


def needs(*wanted):
    """Skips unless all these features work here."""
    found = features()
    for feature in wanted:
        if found.get(feature, "unknown feature") is not None:
            raise Skip("no %s here: %s" % (feature, found.get(feature)))


def needs_command(*words):
    try:
        subprocess.run(words, capture_output=True, check=True, timeout=SECONDS_MAX)
    except (OSError, subprocess.CalledProcessError) as error:
        raise Skip("%s does not run here: %s" % (words[0], error)) from error


def cgroup2():
    """The folder where control groups can be made."""
    with open("/proc/mounts", encoding="ascii") as mounts:
        for line in mounts:
            _, folder, kind, options, *_ = line.split()
            if kind == "cgroup2" and "rw" in options.split(",") and os.access(folder, os.W_OK):
                return folder
    raise Skip("no writable cgroup2 file system is mounted here")


def explain(error):
    """The place of the failure in the test, and its reason."""
    places = ["%s:%d" % (os.path.basename(place.filename), place.lineno)
              for place in traceback.extract_tb(error.__traceback__)[1:]]
    return "%s: %s: %s" % (" > ".join(places), type(error).__name__, error)


RUNS_MAX = 4


def one_of_several(case):
    """A case that needs CPU time for the recorder at the right moment, which a machine with much else to do may not give, is run
    again, as a whole and in an empty folder. What does not work fails each time; for NoExcuse there is no second run."""
    @functools.wraps(case)
    def again():
        before = os.getcwd()
        for number in range(1, RUNS_MAX + 1):
            with tempfile.TemporaryDirectory(prefix="stackmap-e2e-") as folder:
                os.chdir(folder)
                try:
                    return case()
                except (NoExcuse, Skip):
                    raise
                except (AssertionError, LookupError, TypeError, ValueError) as error:
                    if number == RUNS_MAX:
                        raise
                    print("run %d of %d: %s" % (number, RUNS_MAX, explain(error)[:2000]), flush=True)
                finally:
                    os.chdir(before)
    return again


def run_case(name, case):
    with tempfile.TemporaryDirectory(prefix="stackmap-e2e-") as folder:
        os.chdir(folder)
        try:
            case()
            return "      OK"
        except Skip as reason:
            print(reason)
            return " SKIPPED"
        except Exception as error:  # a case may fail in any way, the others still run
            print(explain(error))
            return " FAILED "
        finally:
            os.chdir("/")


def seconds():
    """The clock, and the user and system time of this process and of its children that have ended."""
    own, children = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return time.monotonic(), own.ru_utime + children.ru_utime, own.ru_stime + children.ru_stime


def drawn(names, parts):
    """One of so many parts of the cases, and at least one case."""
    with open(STACKMAP, "rb") as file:
        number = int(hashlib.sha256(file.read()).hexdigest(), 16)
    return names[number % min(parts, len(names))::parts]


def run_cases(module, words):
    cases = {name: case for name, case in module.items() if name.startswith("test_") and callable(case)}
    parts = [int(word[2:]) for word in words if word.startswith("1/")]
    words = [word for word in words if not word.startswith("1/")]
    left_out = {word[1:] for word in words if word.startswith("-")}
    wanted = {word for word in words if not word.startswith("-")} or set(cases)
    unknown = (wanted | left_out) - set(cases)
    assert not unknown, "no such case: %s" % ", ".join(sorted(unknown))
    states, chosen = set(), [name for name in cases if name in wanted - left_out]
    for name in drawn(chosen, parts[0]) if parts else chosen:
        print("[ RUN      ] " + name, flush=True)
        begun = seconds()
        state = run_case(name, cases[name])
        states.add(state.strip())
        if state != " SKIPPED":  # of which the reason is all that is shown
            print("%.1f s, %.1f + %.1f s of CPU" % tuple(after - before for before, after in zip(begun, seconds())), flush=True)
        print("[ %s ] %s" % (state, name), flush=True)
    return states


def bpf_mounts():
    """The mount namespace of this process, and how many BPF file systems lie over each other there."""
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        return os.readlink("/proc/self/ns/mnt"), sum(line.split()[1] == "/sys/fs/bpf" for line in mounts)


NAMESPACE, MOUNTS = bpf_mounts()  # of the machine


def main(module):
    """Runs the cases of a module (globals()), or those named on the command line. The user's own settings for reports are
    removed; each run has its own cache. A case that mounts does it in a namespace of its own."""
    os.environ.pop("DEBUGINFOD_URLS", None)
    gc.disable()  # events by the hundred thousand, in no cycles
    with tempfile.TemporaryDirectory(prefix="stackmap-e2e-cache-") as cache:
        os.environ["XDG_CACHE_HOME"] = cache
        states = run_cases(module, sys.argv[3:])
    namespace, count = bpf_mounts()
    assert namespace != NAMESPACE or count <= MOUNTS, "%d BPF file systems are left mounted" % (count - MOUNTS)
    if states == {"SKIPPED"}:
        sys.exit(SKIPPED)
    sys.exit(states - {"OK", "SKIPPED"} != set() or not states)
