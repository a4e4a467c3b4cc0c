#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The functions of Ruby scripts in user stacks (Ruby 3.1 to 3.4), with nothing prepared in the program. The callers of each function of
programs/stack/script_calls.rb are known by its source, so a single other one fails the test."""

import collections
import os
import re
import shutil
import subprocess
import sys

from harness.cases import main, needs, never, one_of_several, stackmap
from harness.engine_folder import fresh_bpffs
from harness.recording import function, record, second_half, user_frames
from harness.skip import Skip

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "unwind", "situations"))
from judge import RubyLoop  # noqa: E402

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs", "stack")
NAME = re.compile(r"^(.*) \((.*):(-?\d+)\)$")  # name, file, first line
TEMPLATE = "<internal:made/template.rb>"  # a text that begins at line -6, as those of template engines do

# function -> its callers; "" is the begin of a stack, "eval" the code that eval() runs
CALLERS = {
    "burn": ["inner"],
    "inner": ["work"],
    "work": ["run", "block in run", "block (2 levels) in generate", "recurse", "recurse_through_c", "block in catching", "rescue in catching",
             "catching", "block in ensuring", "ensure in block in ensuring", "block in fiber", "initialize", "<=>", "each", "method_missing",
             "respond_to_missing?", "to_s", "plain", "block in <class:Item>", "block in to_proc", "eval"],
    "generate": ["run"],
    "block in generate": ["run", ""],  # in a fiber, if the numbers are asked for one by one
    "block (2 levels) in generate": ["block in generate"],
    "block in run": ["run", "each", "block (2 levels) in generate"],
    "recurse": ["run", "recurse"],
    "recurse_through_c": ["run", "block in recurse_through_c"],
    "block in recurse_through_c": ["recurse_through_c"],
    "fail_within": ["catching"],
    "block in catching": ["fail_within"],
    "rescue in catching": ["catching"],
    "catching": ["run"],
    "ensuring": ["run"],
    "block in ensuring": ["ensuring"],
    "ensure in block in ensuring": ["block in ensuring"],
    "fiber": ["run"],
    "block in fiber": [""],
    "initialize": ["run"],
    "<=>": ["run"],
    "each": ["run"],
    "method_missing": ["run"],
    "respond_to_missing?": ["run"],
    "to_s": ["run"],
    "plain": ["run", "plain"],
    "block in <class:Item>": ["run"],
    "to_proc": ["run"],
    "block in to_proc": ["run"],
    "evaluate": ["run"],
    "eval": ["evaluate"],
    "run": ["<main>", "block (2 levels) in <main>"],
    "block in <main>": ["<main>"],
    "block (2 levels) in <main>": [""],  # begins a thread
    "<class:Item>": ["<main>"],
    "<class:Part>": ["<main>"],
    "<main>": [""],
}
RARE = {"generate", "fiber", "to_proc", "<class:Item>", "<class:Part>", "block in <main>"}  # take hardly any time of their own


def ruby(version):
    path = shutil.which("ruby" + version)
    if not path:
        raise Skip("no Ruby %s here (Debian package ruby%s)" % (version, version))
    return path


def script_functions(event, loop):
    """The functions of the script, innermost first; loops that stay native are None. Functions of Ruby's own are left out."""
    functions = []
    for frame in user_frames(event):
        if loop.is_in(frame):
            functions.append(None)
        if frame.object == "[ruby]":
            name, file, _ = NAME.match(function(frame)).groups()
            if file == TEMPLATE or not file.startswith("<internal:"):
                assert file.endswith(".rb") or file.startswith("(eval") or file == TEMPLATE, frame
                functions.append("eval" if file.startswith("(eval") or file == TEMPLATE else name)
    return functions


def check_calls(version, *options, rate=1999, seconds=2):
    needs("bpf", "perf events")
    recording = record("-F", rate, "--", ruby(version), "--disable-gems", *options, PROGRAMS + "/script_calls.rb", seconds, 3)
    recording.check()
    wrong, whole, met, loop = collections.Counter(), [], set(), RubyLoop()
    for event in recording.events():
        functions = script_functions(event, loop)
        met.update(functions)
        for callee, caller in zip(functions, functions[1:] + [""]):
            if callee is not None and caller is not None and caller not in CALLERS.get(callee, []):
                wrong[callee, caller] += 1
        if "run" in functions:
            whole.append(functions[-1] in ("<main>", "block (2 levels) in <main>") and None not in functions)
    never(wrong, (wrong.most_common(5), len(whole), sum(whole)))
    later = second_half(whole)
    assert len(whole) > 200 * seconds and sum(later) >= 0.99 * len(later), (len(whole), len(later), sum(later))
    assert not set(CALLERS) - met - RARE, set(CALLERS) - met
    assert " (%s:-6)" % TEMPLATE in recording.script, "names and lines are those of Ruby"
    assert not re.search(r"^# note: +Ruby", recording.read("report", "--no-pager"), re.M), "no advice for what has names"
    return len(whole), sum(whole)


@one_of_several
def test_ruby_3_1():
    check_calls("3.1")


@one_of_several
def test_ruby_3_2():
    check_calls("3.2")


@one_of_several
def test_ruby_3_3():
    check_calls("3.3")


@one_of_several
def test_ruby_3_4():
    check_calls("3.4")


FORKS = """
def work
  till = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) + 0.5
  nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID) < till
end
2.times { fork { work } }
Process.waitall
"""


@one_of_several
def test_names_that_are_in_a_page_that_a_forked_process_has_not_touched():
    """The text "<main>" lies in a file of Ruby, and the kernel gives a new process no pages of files before they are read."""
    needs("bpf", "perf events", "BPF task work")
    path = shutil.which("ruby")
    if not path:
        raise Skip("no Ruby here (Debian package ruby)")
    whole, loop = [], RubyLoop()
    for event in record("-F", 999, "--", path, "--disable-gems", "-e", FORKS).events():
        names = [None if loop.is_in(frame) else function(frame) for frame in user_frames(event) if frame.object == "[ruby]" or loop.is_in(frame)]
        if "work (-e:2)" in names:
            whole.append(None not in names and names[-1].startswith("<main> (-e:"))
    later = second_half(whole)
    assert len(whole) > 300 and sum(later) >= 0.99 * len(later), (len(whole), len(later), sum(later))


def test_code_that_is_compiled_at_run_time_has_no_wrong_names():
    """Frames whose code the JIT compiled are not read; the others have their own callers."""
    needs("bpf", "perf events")
    path = ruby("3.3")
    if subprocess.run([path, "--yjit", "-e", ""], capture_output=True, check=False).returncode:
        raise Skip("this Ruby has no YJIT")
    wrong, loop = collections.Counter(), RubyLoop()
    for event in record("-F", 1999, "--", path, "--disable-gems", "--yjit", PROGRAMS + "/script_calls.rb", 2, 3).events():
        functions = script_functions(event, loop)
        for callee, caller in zip(functions, functions[1:]):
            if callee is not None and caller is not None and caller not in CALLERS.get(callee, []):
                wrong[callee, caller] += 1
    assert not wrong, wrong.most_common(5)


MADE = re.compile(r"(inner|outer)(?:_(\d+))? \(made(?:_(\d+))?:\d+\)")


def check_made(version, what, seconds=2):
    """Functions that are made and freed all the time: the caller of inner() is the outer() of its own number."""
    needs("bpf", "perf events")
    fresh_bpffs()  # the ids are those of this test's engine
    recording = record("-F", 4999, "--", ruby(version), PROGRAMS + "/script_makes.rb", what, seconds)
    wrong, right = collections.Counter(), 0
    for event in recording.events():
        made = [MADE.fullmatch(function(frame)) for frame in user_frames(event) if frame.object == "[ruby]"]
        made = [match.groups() for match in made if match]
        if [which for which, _, _ in made] == ["inner", "outer"]:
            is_right = made[0][1:] == made[1][1:]
            right += is_right
            wrong[what, tuple(made)] += not is_right
    print(version, what, right, "right", sum(wrong.values()), "wrong")
    assert right > 300 and not +wrong, (what, right, sum(wrong.values()), wrong.most_common(3))
    return right


def test_functions_that_are_made_and_freed():
    """Their names, bodies and instructions get the addresses of freed ones."""
    for version in "3.1", "3.2", "3.3", "3.4":
        if shutil.which("ruby" + version):
            for what in "names", "files", "both":
                check_made(version, what)


def test_a_hundred_thousand_callers_that_are_made_and_freed():
    count = 0
    while count < 100000:
        for what in "names", "files", "both":
            count += check_made("3.1", what, seconds=20)


def wait_for_library(process):
    while process.poll() is None:
        with open("/proc/%d/maps" % process.pid) as maps:
            if "libruby" in maps.read():
                return


@one_of_several
def test_events_of_any_kind():
    """Each system call and each large allocation has the functions of the script, in a callback of C and in a fiber. An instance, begun while
    Ruby runs, has the unwind table of its library before the first event."""
    needs("bpf", "BPF task work")
    rounds = 200
    for version in "3.1", "3.3", "3.4":
        if shutil.which("ruby" + version):
            break
    fresh_bpffs()
    with subprocess.Popen([ruby(version), "-e", "sleep"]) as waiting:
        try:
            wait_for_library(waiting)
            stackmap("start", "tables", "-e", "syscalls:sys_enter_getppid", "-p", waiting.pid)
            recording = record("-e", "syscalls:sys_enter_getppid", "-e", "u:libc.so.6:malloc", "--", ruby(version), PROGRAMS + "/script_events.rb", rounds)
        finally:
            waiting.kill()
            stackmap("stop", "tables", status=None)
    found = collections.Counter()
    for event in recording.events():
        names = [NAME.match(function(frame)) for frame in user_frames(event) if frame.object == "[ruby]"]
        found[event.name.rpartition(":")[2], tuple(name[1] for name in names if not name[2].startswith("<internal:"))] += 1
    for between in ("block in run", "run", "<main>"), ("block (2 levels) in run", "block in run"):
        assert found["sys_enter_getppid", ("call", "step", *between)] == rounds, found.most_common(20)
        assert found["malloc", ("allocate", "step", *between)] >= rounds, found.most_common(20)


if __name__ == "__main__":
    main(globals())
