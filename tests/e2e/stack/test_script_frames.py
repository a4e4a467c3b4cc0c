#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The functions of Python scripts in user stacks (CPython 3.9 to 3.15), with nothing prepared in the program. The callers of each
function of programs/stack/script_calls.py are known by its source, so a single other one fails the test."""

import collections
import glob
import os
import re
import shutil
import subprocess
import sys

from harness.cases import main, needs, never, one_of_several, program, stackmap
from harness.engine_folder import fresh_bpffs
from harness.instance import read, stat_of
from harness.machine_code import UNTIL_IT_RAN
from harness.recording import Recording, function, record, second_half, user_frames
from harness.skip import Skip

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "unwind", "situations"))
from judge import is_python_loop  # noqa: E402

CALLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs", "stack", "script_calls.py")
SCRIPT = "script_calls.py"
NAME = re.compile(r"^(.*) \((.*):(\d+)\)$")  # qualified name, file, first line

# function -> its callers; "" begins a thread, "exec" is the module that exec() runs
CALLERS = {
    "burn": ["inner"],
    "inner": ["work"],
    "work": ["run", "generate", "recurse", "recurse_through_c", "catch", "Item.__init__", "Item.__del__", "Item.__lt__", "compare", "exec"],
    "generate": ["run"],
    "recurse": ["run", "recurse"],
    "recurse_through_c": ["run", "recurse_through_c.<locals>.<lambda>"],
    "recurse_through_c.<locals>.<lambda>": ["recurse_through_c"],
    "catch": ["run"],
    "Item.__init__": ["run"],
    "Item.__del__": ["run"],
    "Item.__lt__": ["run"],
    "compare": ["run"],
    "exec": ["run"],
    "run": ["<module>", "Thread.run"],
    "Item": ["<module>"],
    "<module>": [""],
    "Thread.run": ["Thread._bootstrap_inner"],
    "Thread._bootstrap_inner": ["Thread._bootstrap"],
    "Thread._bootstrap": [""],
}
# Before 3.11 functions have no qualified names: those of the script by their own names.
QUALIFIED = {name.rpartition(".")[2]: name for name in CALLERS if "." in name and not name.startswith("Thread.")}


def python(minor):
    """An interpreter of this version; its loop must be found by what the file says, whoever built it."""
    paths = ["/usr/bin/python3.%d" % minor, *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.%d.*/bin/python3" % minor)))]
    for path in filter(None, map(shutil.which, paths)):
        if subprocess.run([path, "-c", "import ctypes"], capture_output=True, check=False).returncode == 0:
            return path
    raise Skip("no CPython 3.%d with ctypes here (Debian package python3.%d)" % (minor, minor))


def script_functions(event, has_qualified=True):
    """The functions of scripts, innermost first; those of other files than ours and of threading.py, and native loops, are None."""
    functions = []
    for frame in user_frames(event):
        if is_python_loop(frame):
            functions.append(None)
        if frame.object != "[python]":
            continue
        name, file, _ = NAME.match(function(frame)).groups()
        if not has_qualified and file == SCRIPT:
            name = QUALIFIED.get(name, name)
        if not has_qualified and file == "threading.py" and "Thread." + name in CALLERS:
            name = "Thread." + name
        known = file == SCRIPT or file == "threading.py" and name.startswith("Thread.")
        is_exec = (name, file) == ("<module>", "<string>") and functions[-1:] == ["work"]
        functions.append(name if known else "exec" if is_exec else None)
    return functions


def check_calls(minor):
    needs("bpf", "perf events")
    recording = record("-F", 999, "--", python(minor), CALLS, 2)
    recording.check()
    wrong, whole = collections.Counter(), []
    for event in recording.events():
        functions = script_functions(event, minor >= 11)
        for callee, caller in zip(functions, functions[1:] + [""]):
            if callee in CALLERS and caller not in [None, *CALLERS[callee]]:
                wrong[callee, caller] += 1
        if "run" in functions:
            whole.append(functions[-1] in ("<module>", "Thread._bootstrap") and
                         not any(map(is_python_loop, user_frames(event))))
    never(wrong, wrong.most_common(5))
    later = second_half(whole)
    assert len(whole) > 300 and sum(later) >= 0.99 * len(later), (len(whole), len(later), sum(later))
    assert not re.search(r"^# note: +Python", recording.read("report", "--no-pager"), re.M), "no advice for what has names"


@one_of_several
def test_python_3_9():
    check_calls(9)


@one_of_several
def test_python_3_10():
    check_calls(10)


@one_of_several
def test_python_3_11():
    check_calls(11)


@one_of_several
def test_python_3_12():
    check_calls(12)


ROUNDS, COPIES, PAGES = 100, 10, 4
EVENTS = {  # event -> innermost function of ours, events in a round
    "u:libc.so.6:malloc": ("allocate", 1),
    "page-faults": ("touch", PAGES),
    "sched:sched_switch": ("wait", 1),
    "syscalls:sys_enter_getppid": ("call", 1),
}


def events_found(*options):
    """(event, functions of the script) -> number of events"""
    needs("bpf", "BPF task work")
    recording = record(*options, "--", any_python(), CALLS.replace("script_calls", "script_events"), ROUNDS, program("libscript_library.so"))
    found = collections.Counter()
    for event in recording.events():
        functions = [NAME.match(function(frame))[1] for frame in user_frames(event) if frame.object == "[python]"]
        assert not any("_PyEval_EvalFrameDefault" in frame.name for frame in user_frames(event)) or "step" not in functions, event
        found[event.name.rpartition(":")[2], tuple(functions)] += 1
    return found


def check_calls_of_getppid(found):
    """Those in new copies of a library are unwound after the event."""
    assert {calls: count for (name, calls), count in found.items() if name == "sys_enter_getppid"} == {
        ("call", "step", "run", "<module>"): ROUNDS, ("call", "step", "generate", "run", "<module>"): ROUNDS,
        ("call_copy", "run", "<module>"): COPIES}, found.most_common(20)


@one_of_several
def test_events_of_any_kind():
    """Each event of a round has the functions of the script, whether its stack was taken at the event or afterwards."""
    found = events_found(*[word for event in EVENTS for word in ("-e", event)])
    for event, (name, count) in EVENTS.items():
        for between in (), ("generate",):
            calls = (name, "step", *between, "run", "<module>")
            assert found[event.rpartition(":")[2], calls] >= count * ROUNDS, (event, calls, found.most_common(20))
    check_calls_of_getppid(found)


def test_stacks_that_are_taken_at_system_calls():
    check_calls_of_getppid(events_found("--user-at-syscall", "-e", "syscalls:sys_enter_getppid"))


NEW_ROUNDS, NEW_DEPTH = 20, 40
NEW = """import os, sys, time
rounds, depth = map(int, sys.argv[1:])
for _ in range(300):
    time.sleep(0.001)
for number in range(rounds):
    names = ["new_%d_%d_%d" % (os.getpid(), number, i) for i in range(depth)]
    for name, callee in zip(names, names[1:] + ["time.sleep"]):
        exec("def %s(): return %s(%s)" % (name, callee, "0.001" if callee == "time.sleep" else ""))
    globals()[names[0]]()
"""


@one_of_several
def test_a_switch_at_which_all_functions_are_new():
    """Interrupts are disabled while tasks are switched, so the kernel has memory for a few new functions at once."""
    needs("bpf", "BPF task work")
    recording = record("-e", "sched:sched_switch", "--", any_python(), "-c", NEW, NEW_ROUNDS, NEW_DEPTH)
    found = collections.Counter()
    for event in recording.events():
        names = [re.match(r"new_\d+_(\d+)_(\d+) ", function(frame)) for frame in user_frames(event)]
        chain = [tuple(map(int, name.groups())) for name in names if name]
        for number in range(NEW_ROUNDS):
            found[number] += chain == [(number, i) for i in reversed(range(NEW_DEPTH))]
    assert all(found[number] for number in range(NEW_ROUNDS)), found


@one_of_several
def test_python_3_13():
    check_calls(13)


@one_of_several
def test_python_3_14():
    check_calls(14)


@one_of_several
def test_python_3_15():
    check_calls(15)


MADE = re.compile(r"(inner|outer)(?:_(\d+))? \(made(?:_(\d+))?:\d+\)")


def check_made(minor, what, seconds=2):
    """Functions that are made and freed all the time: the caller of inner() is the outer() of its own number."""
    needs("bpf", "perf events")
    fresh_bpffs()  # the ids are those of this test's engine
    recording = record("-F", 4999, "--", python(minor), CALLS.replace("script_calls", "script_makes"), what, seconds)
    wrong, right = collections.Counter(), 0
    for event in recording.events():
        made = [MADE.fullmatch(function(frame)) for frame in user_frames(event) if frame.object == "[python]"]
        made = [match.groups() for match in made if match]
        if [which for which, _, _ in made] == ["inner", "outer"]:
            is_right = made[0][1:] == made[1][1:]
            right += is_right
            wrong[what, tuple(made)] += not is_right
    print(minor, what, right, "right", sum(wrong.values()), "wrong")
    assert right > 500 and not +wrong, (what, right, sum(wrong.values()), wrong.most_common(3))
    return right


def test_functions_that_are_made_and_freed_3_9():
    check_made(9, "files")


def test_functions_that_are_made_and_freed_3_10():
    check_made(10, "both")


def test_functions_that_are_made_and_freed_3_11():
    for what in "names", "files", "both":
        check_made(11, what)


def test_functions_that_are_made_and_freed_3_12():
    check_made(12, "both")


def test_functions_that_are_made_and_freed_3_13():
    check_made(13, "files")


def test_functions_that_are_made_and_freed_3_14():
    check_made(14, "both")


def test_a_hundred_thousand_callers_that_are_made_and_freed():
    count = 0
    while count < 100000:
        for what in "names", "files", "both":
            count += check_made(11, what, seconds=9)


def any_python():
    for minor in 12, 11, 13:
        try:
            return python(minor)
        except Skip as skip:
            missing = skip
    raise missing


SPIN = """import time
def NAME_inner(end):
    while time.process_time() < end:
        pass
def NAME_outer():
    NAME_inner(time.process_time() + 0.7)
NAME_outer()
"""


def write_spin(name):
    with open(name + ".py", "w", encoding="ascii") as file:
        file.write(SPIN.replace("NAME", name))
    return name + ".py"


@one_of_several
def test_merged_recordings_keep_their_functions():
    """Each recording numbers functions anew, so the numbers of two recordings mean different functions."""
    needs("bpf", "perf events")
    found = collections.Counter()
    parts = [record("-F", 999, "--", any_python(), write_spin(name), output=name + ".data").path for name in ("first", "second")]
    stackmap("merge", "-o", "both.data", *parts)
    for event in Recording("both.data").events():
        names = [NAME.match(function(frame)) for frame in user_frames(event) if frame.object == "[python]"]
        own = [name for name in names if name[2] in ("first.py", "second.py")]
        if own:
            file = own[0][2][:-3]
            never([name[1] for name in own] not in ([file + "_inner", file + "_outer", "<module>"], [file + "_outer", "<module>"],
                                                    ["<module>"]), names)
            found[file] += 1
    assert min(found["first"], found["second"]) > 30, found


@one_of_several
def test_a_program_that_runs_already():
    """Rules that were learned before the table came do not hide the functions; an instance has their numbers, a recording names."""
    needs("bpf", "perf events", "BPF task work")
    fresh_bpffs()
    with subprocess.Popen([any_python(), "-c", "while True:\n    pass\n"]) as process:
        try:
            recording = record("-F", 999, "-p", process.pid, "--", "sh", "-c", UNTIL_IT_RAN, "sh", process.pid, 200)
            names = [function(frame) for event in recording.events() for frame in user_frames(event) if frame.object == "[python]"]
            assert names.count("<module> (<string>:1)") > 50, collections.Counter(names)
            stackmap("start", "scripts", "-F", 999, "-p", process.pid)
            while "[python]" not in read("scripts", "stack_map") and process.poll() is None:
                pass
            in_text = set(re.findall(r"^  \[\d+\] (\[python\]\+0x[0-9a-f]+)$", read("scripts", "stack_map"), re.M))
            dumped = stackmap("dump", "--instance", "scripts").stdout
            assert in_text and in_text <= set(re.findall(r"^  \[\d+\] 0x[0-9a-f]+ (\[python\].*)$", dumped, re.M)), (in_text, dumped)
            assert int(stat_of("scripts")["script_loops"]) > 0
        finally:
            process.kill()
            stackmap("stop", "scripts", status=None)


if __name__ == "__main__":
    main(globals())
