#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Stacks of Go programs go on across the scheduler's stack, C code and its callbacks, and signals. Each frame is held against the
program's instructions: its caller has a call that leads to it."""

import collections
import functools
import os
import re
import subprocess
import tempfile

from harness.cases import main, needs, needs_command, never, one_of_several, run, stackmap
from harness.recording import check_whole_later, marker, record

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs", "go_stacks")
BUILT = tempfile.TemporaryDirectory(prefix="stackmap-go-")


@functools.lru_cache(maxsize=None)
def go_program(*flags):
    needs_command("go", "version")
    needs_command("objdump", "--version")
    needs_command("gcc", "--version")
    path = os.path.join(BUILT.name, "go_stacks" + "".join(flags).translate(str.maketrans(" =", "__")))
    run("go", "build", *flags, "-o", path, ".", cwd=os.path.realpath(SOURCES),
        env={**os.environ, "GO111MODULE": "off", "GOFLAGS": "", "GOCACHE": os.path.join(BUILT.name, "cache"), "HOME": BUILT.name})
    return path


@functools.lru_cache(maxsize=None)
def jumps_and_calls(path):
    """function -> what it calls, and function -> what it jumps to; "*" is an address in a register."""
    calls, jumps, current = collections.defaultdict(set), collections.defaultdict(set), None
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    for line in code.splitlines():
        head = re.match(r"[0-9a-f]+ <(.*)>:$", line)
        if head:
            current = head[1]
            continue
        jump = re.search(r"\t(call|j\w+) +(.*)$", line)
        if jump:
            target = re.search(r"<([^>+]+)(\+0x[0-9a-f]+)?>", jump[2])
            target = target[1] if target else "*"
            if jump[1] == "call":
                calls[current].add(target)
            elif target != current:
                jumps[current].add(target)
    return calls, jumps


def may_call(calls, jumps, caller, callee):
    seen, wanted = set(), list(calls[caller])
    while wanted:
        name = wanted.pop()
        if name in (callee, "*"):
            return True
        if name not in seen:
            seen.add(name)
            wanted += jumps[name]
    return False


def is_begin_or_signal(caller, callee):
    return caller.startswith("runtime.goexit") or caller.startswith("runtime.sigreturn") or "sigtramp" in callee or \
        callee.startswith(("runtime.asyncPreempt", "runtime.sigreturn"))


def in_signal_return(event):
    return marker(event) == "changed"


@functools.lru_cache(maxsize=None)
def recorded(way):
    """The whole stacks of a recording as lists of names, outermost first."""
    needs("bpf", "perf events")
    path = go_program()
    recording = record("-F", 999, "--", path, way)
    check_whole_later(recording, 300, 300, in_signal_return)
    calls, jumps = jumps_and_calls(path)
    stacks, wrong = [], collections.Counter()
    folded = stackmap("export", "--format", "folded", "--no-inline", "--no-demangle", recording.path).stdout
    for line in folded.splitlines():
        names = [name for name in line.rsplit(" ", 1)[0].split(";")[1:] if not name.endswith("_[k]")]
        if names[0].startswith("["):  # cut or guessed, and marked
            continue
        stacks.append(names)
        for caller, callee in zip(names, names[1:]):
            if caller in calls and callee in calls and not is_begin_or_signal(caller, callee) and \
                    not may_call(calls, jumps, caller, callee):
                wrong[caller, callee] += 1
    never(wrong, wrong.most_common(5))
    return stacks


def of_several_recordings(case):
    """Another recording is made for the next run of a case that has failed."""
    @functools.wraps(case)
    def once():
        try:
            case()
        except AssertionError:
            recorded.cache_clear()
            raise
    return one_of_several(once)


def plain(name):
    return re.sub(r"\.abi0$", "", name)


def callers(stacks, function):
    """function's callers -> how many stacks; None: the function begins the stack."""
    found = collections.Counter()
    for names in stacks:
        names = [None] + [plain(name) for name in names]
        found.update(names[i - 1] for i, name in enumerate(names) if name == function)
    return found


@of_several_recordings
def test_the_scheduler_works_for_a_goroutine():
    stacks = recorded("collect")
    begun = [names for names in stacks if plain(names[0]) == "runtime.systemstack"]
    never(begun, begun[:3])
    assert "main.describe" in {plain(name) for names in stacks for name in names[:-1] if "runtime.systemstack" in map(plain, names)}


@of_several_recordings
def test_a_stack_that_grows():
    """The callers of a function that was suspended are not those of what its thread does next."""
    stacks = recorded("collect")
    assert callers(stacks, "runtime.morestack")["main.deep"]
    for names in stacks:
        if callers([names], "runtime.morestack")[None]:
            never(not {"runtime.goschedImpl", "runtime.preemptPark", "runtime.gopreempt_m"} & set(map(plain, names)), names)


@one_of_several
def test_morestack_has_no_caller_once_the_next_goroutine_is_chosen():
    """execute() makes a goroutine the thread's own and calls casgstatus(), while the scheduler still stands on the call of morestack()
    by the last goroutine."""
    needs("bpf", "uprobes")
    path = go_program()
    recording = record("-e", f"u:{path}:runtime.casgstatus", "--", path, "collect")
    folded = stackmap("export", "--format", "folded", "--no-inline", "--no-demangle", recording.path).stdout
    stacks = [line.rsplit(" ", 1)[0].split(";")[1:] for line in folded.splitlines()]
    in_between = [names for names in stacks if {"runtime.newstack", "runtime.execute"} <= set(names)]
    wrong = [names for names in in_between if not names[0].startswith("[") and plain(names[0]) != "runtime.morestack"]
    assert in_between
    never(wrong, wrong[:3])


@of_several_recordings
def test_the_scheduler_works_for_itself():
    inside = [names for names in recorded("collect") if plain(names[-1]) != "runtime.mcall"]  # it has a caller until it changes the stack
    found = callers(inside, "runtime.mcall")
    never(set(found) - {None}, found)


@of_several_recordings
def test_callbacks():
    stacks = recorded("callbacks")
    never(callers(stacks, "runtime.cgocallback")[None], callers(stacks, "runtime.cgocallback"))
    path = ["main.callC", "c_outer", "main.goCallback"] * 2 + ["main.callC", "c_outer", "c_inner"]
    assert any([name for name in names if plain(name) in path] == path for names in stacks)


def check_stripped(*flags):
    """Its Go functions have names, inlined ones among them."""
    needs("bpf", "perf events")
    recording = record("-F", 999, "--", go_program("-ldflags=-s -w", *flags), "collect")
    check_whole_later(recording, 300, 300, in_signal_return)
    folded = stackmap("export", "--format", "folded", recording.path).stdout
    stacks = [line.rsplit(" ", 1)[0].split(";") for line in folded.splitlines()]
    names = collections.Counter(plain(name) for stack in stacks for name in stack)
    assert names["main.build"] and names["main.deep"] and names["runtime.systemstack"], names
    in_go = [stack for stack in stacks if "main.collect" in stack]
    nameless = [stack for stack in in_go if any(name.startswith("go_stacks") for name in stack[stack.index("main.collect"):])]
    assert in_go and not nameless, nameless[:3]
    assert any(name.endswith("_[i]") for name in names), names


@one_of_several
def test_a_stripped_program_has_names():
    check_stripped()


@one_of_several
def test_a_stripped_program_of_the_external_linker_has_names():
    """A linker of C code has put the table among other data. The compiler makes all of Go's library anew for such a program."""
    check_stripped("-buildmode=pie")


if __name__ == "__main__":
    main(globals())
