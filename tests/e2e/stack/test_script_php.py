#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The functions of PHP scripts in user stacks (PHP 8.1 to 8.5), with nothing prepared in the program. The callers of each function of
programs/stack/script_calls.php are known by its source, so a single other one fails the test."""

import collections
import os
import re
import shutil

from harness.cases import main, needs, never, one_of_several
from harness.engine_folder import fresh_bpffs
from harness.recording import function, record, second_half, user_frames
from harness.skip import Skip

CALLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "programs", "stack", "script_calls.php")
NAME = re.compile(r"^(.*) \((.*):(\d+)\)$")  # qualified name, file, first line

# function -> its callers; "" is the begin of the program, "eval" the code that eval() runs, "<file>" that of the file
CALLERS = {
    "burn": ["inner"],
    "inner": ["work"],
    "work": ["run", "generate", "recurse", "recurse_through_c", "catching", "compare", "closure", "eval", "Item::__construct", "Item::__destruct",
             "Item::__call", "Item::__get", "Item::__toString", "Part::getIterator", "Part::offsetGet", "Part::offsetSet", "Part::offsetExists",
             "Part::offsetUnset"],
    "generate": ["run"],
    "recurse": ["run", "recurse"],
    "recurse_through_c": ["run", "closure"],
    "closure": ["run", "recurse_through_c"],
    "catching": ["run"],
    "compare": ["run"],
    "eval": ["run"],
    "Item::__construct": ["Item::create", "run"],
    "Item::__destruct": ["run"],
    "Item::__call": ["run"],
    "Item::__get": ["run"],
    "Item::__toString": ["run"],
    "Item::create": ["run"],
    "Part::getIterator": ["run"],
    "Part::offsetGet": ["run"],
    "Part::offsetSet": ["run"],
    "Part::offsetExists": ["run"],
    "Part::offsetUnset": ["run"],
    "run": ["<file>"],
    "<file>": [""],
}


def script_function(name):
    name, file, _ = NAME.match(name).groups()
    if "eval()'d code" in file:
        return "eval"
    assert file == "script_calls.php", (name, file)
    return "closure" if name.startswith("{closure") else name


def script_functions(event):
    """The functions of the script, innermost first; loops that stay native are None."""
    functions = []
    for frame in user_frames(event):
        if function(frame) == "execute_ex":
            functions.append(None)
        if frame.object == "[php]":
            functions.append(script_function(function(frame)))
    return functions


def check_calls(*command, rate=999, seconds=3):
    needs("bpf", "perf events")
    recording = record("-F", rate, "--", *command, CALLS, seconds)
    recording.check()
    wrong, whole, met = collections.Counter(), [], set()
    for event in recording.events():
        functions = script_functions(event)
        met.update(functions)
        for callee, caller in zip(functions, functions[1:] + [""]):
            if callee is not None and caller is not None and caller not in CALLERS.get(callee, []):
                wrong[callee, caller] += 1
        if "run" in functions:
            whole.append(functions[-1] == "<file>" and None not in functions)
    later = second_half(whole)
    never(wrong, (wrong.most_common(5), len(whole), sum(whole)))
    assert len(whole) > 100 * seconds and sum(later) >= 0.99 * len(later), (len(whole), len(later), sum(later))
    assert not set(CALLERS) - met - {"Item::create", "Item::__construct"}, set(CALLERS) - met
    assert not re.search(r"^# note: +PHP", recording.read("report", "--no-pager"), re.M), "no advice for what has names"
    return len(whole), sum(whole)


def php(version):
    path = shutil.which("php" + version)
    if not path:
        raise Skip("no PHP %s here (Debian package php%s-cli)" % (version, version))
    return path


@one_of_several
def test_php_8_2():
    check_calls(php("8.2"))


@one_of_several
def test_php_8_4():
    check_calls(php("8.4"))


@one_of_several
def test_php_8_5():
    check_calls(php("8.5"))


def any_php():
    return next(filter(None, (shutil.which("php" + version) for version in ("8.2", "8.4", "8.5"))), None) or php("8.2")


REQUESTS = 200
MADE = re.compile(r"(?:inner|outer)_(\d{7}) \(script_makes\.php.*:\d+\)")


INCLUDING = """<?php
class Loader {
    static function load() { include "part.php"; }
}
Loader::load();
"""
PART = "<?php $end = microtime(true) + 0.5; while (microtime(true) < $end);\n"


def test_the_code_of_a_file_that_a_method_includes_has_no_class():
    """PHP gives that code the class of the method, and a file that two classes include would have two names."""
    needs("bpf", "perf events")
    path = shutil.which("php")
    if not path:
        raise Skip("no PHP here (Debian package php-cli)")
    for name, text in ("including.php", INCLUDING), ("part.php", PART):
        with open(name, "w", encoding="ascii") as file:
            file.write(text)
    found = collections.Counter()
    for event in record("-F", 999, "--", path, "including.php").events():
        found[tuple(function(frame) for frame in user_frames(event) if frame.object == "[php]")] += 1
    assert found["<file> (part.php:1)", "Loader::load (including.php:3)", "<file> (including.php:1)"] > 100, found
    assert not any("::<file>" in name for names in found for name in names), found


@one_of_several
def test_functions_of_requests_that_replace_others():
    """Functions of a request have the addresses of those of the one before, and names of the same length. The numbers grow, and most requests
    have a sample: an earlier function's name in place of each one's own would be the same number again and again."""
    needs("bpf", "perf events")
    fresh_bpffs()  # the ids are those of this test's engine
    recording = record("-F", 4999, "--", any_php(), CALLS.replace("script_calls", "script_makes"), "requests", REQUESTS)
    last, met, wrong = 0, set(), collections.Counter()
    for event in recording.events():
        matches = [MADE.fullmatch(function(frame)) for frame in user_frames(event) if frame.object == "[php]"]
        numbers = {int(match[1]) for match in matches if match}
        if len(numbers) > 1 or (numbers and min(numbers) < last):
            wrong[last, tuple(sorted(numbers))] += 1
        last = max(numbers | {last})
        met |= numbers
    never(wrong, (wrong.most_common(5), len(met)))
    assert len(met) > REQUESTS / 2, len(met)


CLOSURE = re.compile(r"\{closure.*\} \(script_makes\.php\(\d+\) : eval\(\)'d code:(\d+)\)")
CLOSURE_LINES = 5000  # of script_makes.php
SOON = 0.01  # s


def check_closures(seconds):
    """The outer closure begins on the line of its own number, the inner one on the line after it, and the numbers go up: those of freed
    closures at the same addresses would go back, or be of different pairs. In SOON seconds the numbers go up by less than a half of
    CLOSURE_LINES."""
    needs("bpf", "perf events")
    fresh_bpffs()  # the ids are those of this test's engine
    recording = record("-F", 4999, "--", any_php(), CALLS.replace("script_calls", "script_makes"), "closures", seconds)
    last, last_time, right, wrong = 0, 0, 0, collections.Counter()
    for event in recording.events():
        matches = [CLOSURE.fullmatch(function(frame)) for frame in user_frames(event) if frame.object == "[php]"]
        lines = [int(match[1]) for match in matches if match]
        if len(lines) != 2:
            continue
        inner, outer = lines
        goes_up = (outer - last) % CLOSURE_LINES < CLOSURE_LINES / 2 or event.time - last_time > SOON
        right += inner == outer + 1 and goes_up
        wrong[last, inner, outer] += not (inner == outer + 1 and goes_up)
        last, last_time = outer, event.time
    print("closures", right, "right", sum(wrong.values()), "wrong")
    never(+wrong, (wrong.most_common(5), right))
    assert right > 500, right
    return right


def test_closures_that_are_made_and_freed():
    check_closures(2)


def test_a_hundred_thousand_closures_that_are_made_and_freed():
    count = 0
    while count < 100000:
        count += check_closures(20)


if __name__ == "__main__":
    main(globals())
