#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names of JavaScript's functions in stacks of Node.js (V8), with nothing prepared for them. The callers of each function of
programs/stack/script_calls.js are known by its source, so a single other caller fails the test. The compiler puts functions into
others unless --no-turbo-inlining keeps it from doing so. Such functions have frames of their own, but where the place in the
compiled code does not prove them a frame has the name of the outermost one."""

import collections
import os
import re
import shutil
import subprocess

from harness.cases import main, needs, never, one_of_several, stackmap
from harness.recording import record, second_half, user_frames
from harness.skip import Skip

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs", "stack")
FUNCTION = re.compile(r"\??\s*(?:methods\.)?([^ .+]+)(?: \(script_calls\.js\))?(?: \(inlined\))?(?:\+0x\w+)?$")
MADE = re.compile(r"\??\s*(?:made\.)?(inner|of_object|outer)_(\d+)(?: \(inlined\))?(?:\+0x\w+)?$")
INTERPRETED, COMPILED, INLINED = "[javascript]", "[javascript compiled]", "[javascript inlined]"
# Frames that V8's functions have when they are not found: the collector has moved the function, and its pointers are being renewed.
WITHOUT_NAME = re.compile(r"Builtins_InterpreterEntryTrampoline\b")
MILLISECONDS, RATE = 3000, 1999

WORK = {
    "work_of_plain": ["plain"],
    "work_of_recursion": ["recurse"],
    "work_of_shape": ["area"],
    "work_of_sort": ["compare"],
    "work_of_map": ["each"],
    "work_of_failure": ["failing", "catching"],
    "work_of_closure": ["closed"],
    "work_of_generator": ["generate"],
    "work_of_async": ["awaiting"],
    "work_of_constructor": ["Shape"],
    "work_of_inferred": ["a_name_that_is_inferred"],
    "work_of_replace": ["replaced"],
    "work_of_reviver": ["reviver"],
    "work_of_bound": ["bound_target"],
    "work_of_trap": ["trap"],
    "work_of_eval": ["evaluated"],
    "work_of_wide": ["функция𝒳"],
    "work_of_many": ["inner_of_many"],
}
CALLERS = {
    "burn": list(WORK),
    **WORK,
    "recurse": ["run", "recurse"],
    "failing": ["catching", "failing"],
    "area": ["square_area"],
    "square_area": ["shapes"],
    "Shape": ["constructing", "Square"],
    "compare": ["sorted"],
    "each": ["mapped"],
    "closed": ["calls_closed"],
    "generate": ["iterating", "(anonymous)"],  # the file itself makes the generator
    "a_name_that_is_inferred": ["calls_inferred"],
    "replaced": ["replacing"],
    "reviver": ["parsing"],
    "bound_target": ["calls_bound"],
    "trap": ["trapping"],
    "evaluated": ["calls_evaluated"],
    "функция𝒳": ["calls_wide"],
    "inner_of_many": ["many"],
    "many": ["calls_many"],
    **{name: ["run"] for name in ("plain", "shapes", "constructing", "sorted", "mapped", "catching", "calls_closed", "iterating",
                                  "calls_inferred", "replacing", "parsing", "calls_bound", "trapping", "calls_evaluated",
                                  "calls_wide", "calls_many")},
}


def nodes():
    """The programs of Node.js 18, 20 and 22 here."""
    found = [path for path in (shutil.which("node"), *os.environ.get("NODES", "").split()) if path]
    if not found:
        raise Skip("no node here (Debian package nodejs)")
    for path in found:
        version = subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout
        if re.match(r"v(18|20|22)\.", version):
            yield path, version.strip()


def needs_callbacks():
    needs("bpf", "perf events")
    if "deferred: in the kernel" not in stackmap("--version", "--verbose").stdout:
        raise Skip("this kernel has no callbacks for BPF programs (Linux 6.18)")


def ancestors(name):
    """All functions that may be further out than one with this name."""
    found, left = set(), [name]
    while left:
        for caller in CALLERS.get(left.pop(), []):
            if caller not in found:
                found.add(caller)
                left.append(caller)
    return found


def run(node, program, *options, argument=MILLISECONDS, events=("-F", RATE)):
    recording = record(*events, "--", node, *options, os.path.join(SOURCES, program), argument)
    recording.check()
    return recording.events()


def functions_of(event):
    """For each user frame: the program's function, or None for other code; what it was found in; and whether it is certain."""
    for frame in user_frames(event):
        match = FUNCTION.match(frame.name) if frame.object in (INTERPRETED, COMPILED, INLINED) else None
        where = "[anon]" if WITHOUT_NAME.match(frame.name) else frame.object
        yield match and match[1], where, not frame.name.startswith("?")


def check_calls(node, version, *options):
    """Frames of V8's own functions may lie between two frames of the program. A frame of compiled code may stand for functions
    within its own; their number is returned, too."""
    wrong, met, pairs, inside, named, hidden = collections.Counter(), collections.Counter(), 0, 0, 0, collections.Counter()
    # Before the recorder has made the table of V8's file, the walk does not know it.
    later = second_half(run(node, "script_calls.js", *options))
    for event in later:
        frames = list(functions_of(event))
        if not any(name in CALLERS or name in ("run", "awaiting") for name, *_ in frames):
            continue
        inside += 1
        named += all(where != "[anon]" for _, where, _ in frames)
        met.update((name, where) for name, where, _ in frames if name)
        scripts = [(name, where, sure and where != "[anon]") for name, where, sure in frames
                   if where in (INTERPRETED, COMPILED, INLINED, "[anon]")]
        for (callee, *_), (caller, where, sure) in zip(scripts, scripts[1:]):
            if callee in CALLERS and sure:
                pairs += 1
                if caller not in CALLERS[callee]:
                    (hidden if where == COMPILED and caller in ancestors(callee) else wrong)[callee, caller] += 1
    within = sum(count for (_, where), count in met.items() if where == INLINED)
    print(version, options, "%d stacks, %.2f %% named, %d pairs, %d within others, %d hidden %s, wrong %s" % (
        inside, 100 * named / (inside or 1), pairs, within, hidden.total(), hidden.most_common(4), wrong.most_common(8)))
    never(wrong, (wrong.most_common(5), pairs))
    assert inside > 50 and named >= 0.95 * inside, (version, options, inside, named)
    return met, hidden.total() / (pairs or 1)


@one_of_several
def test_functions_of_the_compilers():
    needs_callbacks()
    for node, version in nodes():
        met, hidden = check_calls(node, version, "--no-turbo-inlining", "--no-maglev-inlining" if version > "v22" else "--opt")
        assert {(name, COMPILED) for name in ("burn", "recurse", "work_of_recursion")} <= set(met), met
        assert not hidden and not any(where == INLINED for name, where in met), (hidden, met)


@one_of_several
def test_functions_within_others():
    needs_callbacks()
    for node, version in nodes():
        met, hidden = check_calls(node, version)
        small = () if version > "v22" else ("Shape", "square_area")  # Maglev of Node.js 22 may keep these two apart
        assert {(name, INLINED) for name in ("burn", "work_of_plain", "plain", *small)} <= set(met), met
        assert hidden < 0.05, hidden


@one_of_several
def test_the_interpreter():
    needs_callbacks()
    for node, version in nodes():
        met, _ = check_calls(node, version, "--no-opt", "--no-sparkplug", *(["--no-maglev"] if version > "v20" else []))
        assert set(CALLERS) - {"sorted"} <= {name for name, where in met if where == INTERPRETED}, (set(CALLERS) - {n for n, _ in met})
        assert not any(where == COMPILED for name, where in met), met


@one_of_several
def test_functions_that_the_collector_moves():
    """While the collector renews addresses, those on the stack and in objects may be the old ones."""
    needs_callbacks()
    for node, version in nodes():
        for options in ((), ("--no-opt", "--no-sparkplug")):
            check_calls(node, version, "--expose-gc", "--compact-on-every-full-gc", *options)


def check_made(node, version, *options, milliseconds=MILLISECONDS, rate=RATE):
    """Each round has a number, and all its functions have it, too. The numbers grow. Returns the number of frames."""
    last, count, wrong, kinds = 0, 0, collections.Counter(), set()
    for event in run(node, "script_makes.js", *options, argument=milliseconds, events=("-F", rate)):
        matches = [MADE.match(frame.name) for frame in user_frames(event) if frame.object in (INTERPRETED, COMPILED, INLINED)]
        numbers = {int(match[2]) for match in matches if match}
        kinds |= {match[1] for match in matches if match}
        count += len([match for match in matches if match])
        if len(numbers) > 1 or (numbers and min(numbers) < last):
            wrong[last, tuple(sorted(numbers))] += 1
        last = max(numbers | {last})
    print(version, options, "%d frames, %d rounds" % (count, last - 100000), wrong.most_common(3))
    never(wrong, (wrong.most_common(5), count))
    assert count > 50 and last > 100040 and kinds == {"inner", "of_object", "outer"}, (count, last, kinds)
    return count


MADE_OPTIONS = (), ("--max-semi-space-size=1",), ("--no-opt", "--always-sparkplug")


@one_of_several
def test_functions_that_replace_others():
    needs_callbacks()
    for node, version in nodes():
        for options in MADE_OPTIONS:
            check_made(node, version, *options)


@one_of_several
def test_a_hundred_thousand_frames_of_functions_that_replace_others():
    needs_callbacks()
    for node, version in nodes():
        count = 0
        while count < 100000:
            for options in MADE_OPTIONS:
                count += check_made(node, version, *options, milliseconds=4000, rate=4999)


if __name__ == "__main__":
    main(globals())
