#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The functions of Perl scripts in user stacks (Perl 5.36, 5.40, 5.42), with nothing prepared in the program. The callers of each function of
programs/stack/script_calls.pl are known by its source, so a single other one fails the test."""

import collections
import os
import re
import shutil
import subprocess

from harness.cases import main, needs, never, one_of_several
from harness.engine_folder import fresh_bpffs
from harness.recording import function, record, second_half, user_frames
from harness.skip import Skip

PROGRAMS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs", "stack")
NAME = re.compile(r"^(.*) \((.*):(\d+)\)$")  # name, file, first line
PERL = shutil.which(os.environ.get("STACKMAP_TEST_PERL", "perl"))  # another one by hand
LOOP = "Perl_runops_standard"

# function -> its callers; "" is the begin of a stack
CALLERS = {
    "burn": ["inner"],
    "inner": ["work"],
    "work": ["run", "recurse", "by_number", "from_block", "in_comparison", "recurse_through_sort", "in_first", "in_reduce", "named_callback",
             "__ANON__", "in_map", "failing", "after_failure", "on_die", "in_string", "made", "on_warning", "in_eval", "Tied::FETCH", "Tied::STORE",
             "Guarded::DESTROY", "Added::plus", "Added::__ANON__", "Added::truth", "Added::compare", "Loaded::AUTOLOAD", "Parent::method", "jumped",
             "in_code", "in_replacement", "in_format"],
    "recurse": ["run", "recurse"],
    "by_number": ["sorting"],
    "sorting": ["run"],
    "from_block": ["sorting"],
    "in_comparison": ["sorting"],
    "recurse_through_sort": ["run", "recurse_through_sort"],
    "callbacks": ["run"],
    "in_first": ["__ANON__"],
    "in_reduce": ["__ANON__"],
    "__ANON__": ["callbacks", "__ANON__", "closures", "adding"],
    "named_callback": ["calls_named"],
    "calls_named": ["closures"],
    "closures": ["run"],
    "in_map": ["closures"],
    "catching": ["run"],
    "failing": ["catching"],
    "after_failure": ["catching"],
    "on_die": ["failing"],
    "evaluating": ["run"],
    "in_string": ["evaluating"],
    "made": ["evaluating"],
    "warning": ["run"],
    "on_warning": ["warning"],
    "in_eval": ["on_warning", "Tied::STORE"],
    "tying": ["run"],
    "Tied::TIESCALAR": ["tying"],
    "Tied::FETCH": ["tying"],
    "Tied::STORE": ["tying"],
    "guarding": ["run"],
    "Guarded::new": ["guarding"],
    "Guarded::DESTROY": ["guarding"],
    "adding": ["run"],
    "Added::plus": ["adding"],
    "Added::__ANON__": ["adding", "Added::compare"],
    "Added::truth": ["adding"],
    "Added::compare": ["adding"],
    "loading": ["run"],
    "Loaded::new": ["loading"],
    "Loaded::AUTOLOAD": ["loading"],
    "Parent::new": ["loading"],
    "Parent::method": ["Child::method"],
    "Child::method": ["loading"],
    "jump": ["run"],
    "jumped": ["run"],
    "matching": ["run"],
    "in_code": ["matching"],
    "in_replacement": ["matching"],
    "writing": ["run"],
    "LINE": ["writing"],
    "in_format": ["LINE"],
    "BEGIN": [""],
    "Added::BEGIN": [""],
    "run": ["<main>", ""],
    "<main>": [""],
}
# They take hardly any time of their own and of those that they call.
RARE = {"BEGIN", "Added::BEGIN", "Tied::TIESCALAR", "Guarded::new", "Loaded::new", "Parent::new", "jump"}


def script_functions(event):
    """The functions of the script, innermost first; functions of modules are left out."""
    functions = []
    for frame in user_frames(event):
        if frame.object == "[perl]":
            name, file, _ = NAME.match(function(frame)).groups()
            if file == "script_calls.pl" or file.startswith("(eval"):
                functions.append(name.replace("main::", ""))
    return functions


def is_perl_run(event):
    return any(LOOP in frame.name or frame.object == "[perl]" for frame in user_frames(event))


def check_calls(threads, rate=1999, seconds=2):
    needs("bpf", "BPF task work", "perf events")
    if not PERL:
        raise Skip("no Perl here (Debian package perl)")
    if threads > 1 and subprocess.run([PERL, "-Mthreads", "-e", "1"], capture_output=True, check=False).returncode:
        raise Skip("this Perl has no threads")
    recording = record("-F", rate, "--", PERL, PROGRAMS + "/script_calls.pl", seconds, threads)
    recording.check()
    wrong, whole, met = collections.Counter(), [], set()
    for event in recording.events():
        functions = script_functions(event)
        met.update(functions)
        for callee, caller in zip(functions, functions[1:] + [""]):
            if caller not in CALLERS.get(callee, []):
                wrong[callee, caller] += 1
        if is_perl_run(event):
            whole.append("run" in functions or functions == ["<main>"])
    never(wrong, (wrong.most_common(5), len(whole), sum(whole)))
    later = second_half(whole)
    assert len(whole) > 200 * seconds and sum(later) >= 0.995 * len(later), (len(whole), len(later), sum(later))
    assert not set(CALLERS) - met - RARE, set(CALLERS) - met
    assert not re.search(r"^# note: +Perl", recording.read("report", "--no-pager"), re.M), "no advice for what has names"
    return len(whole), sum(whole), len(later), sum(later)


def test_functions_of_a_program():
    check_calls(1)


def test_functions_of_threads():
    check_calls(3)


MADE = re.compile(r"main::(inner|outer)(?:_(\d+))? \(made(?:_(\d+))?:\d+\)")


def check_made(what):
    """Functions that are made and freed all the time: the caller of inner() is the outer() of its own number."""
    fresh_bpffs()  # the ids are those of this test's engine
    recording = record("-F", 4999, "--", PERL, PROGRAMS + "/script_makes.pl", what, 2)
    wrong, right = collections.Counter(), 0
    for event in recording.events():
        made = [MADE.fullmatch(function(frame)) for frame in user_frames(event) if frame.object == "[perl]"]
        made = [match.groups() for match in made if match]
        if [which for which, _, _ in made] == ["inner", "outer"]:
            is_right = made[0][1:] == made[1][1:]
            right += is_right
            wrong[what, tuple(made)] += not is_right
    assert right > 300 and not +wrong, (what, right, sum(wrong.values()), wrong.most_common(3))
    return right


def test_functions_that_are_made_and_freed():
    """Their code, names and files get the addresses of freed ones."""
    needs("bpf", "BPF task work", "perf events")
    if not PERL:
        raise Skip("no Perl here (Debian package perl)")
    for what in "names", "files", "both":
        check_made(what)


@one_of_several
def test_events_of_any_kind():
    """Each system call and each large allocation has the functions of the script, in the comparison of a sort, in a destructor and in a recursion."""
    needs("bpf", "BPF task work")
    if not PERL:
        raise Skip("no Perl here (Debian package perl)")
    rounds = 200
    fresh_bpffs()
    recording = record("-e", "syscalls:sys_enter_getppid", "-e", "u:libc.so.6:malloc", "--", PERL, PROGRAMS + "/script_events.pl", rounds)
    found = collections.Counter()
    for event in recording.events():
        names = [NAME.match(function(frame)) for frame in user_frames(event) if frame.object == "[perl]"]
        found[event.name.rpartition(":")[2], tuple(name[1].replace("main::", "") for name in names)] += 1
    for between in ("compare", "sorting"), ("Guarded::DESTROY", "guarding"), ("recurse",) * 4:
        assert found["sys_enter_getppid", ("call", "step", *between, "<main>")] == rounds, found.most_common(20)
        assert found["malloc", ("allocate", "step", *between, "<main>")] >= rounds, found.most_common(20)


if __name__ == "__main__":
    main(globals())
