#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The offsets by which frames of scripts are read, beside those that an interpreter's debug information or headers say.

For a version that the reader knows, each member of the layout is compared. For a version that it does not know, the offsets are
printed from which a line of `versions[]` is made (docs/internals/languages.md).

usage: script_offsets.py SCRIPT_LAYOUT FILE [DEBUG]   (SCRIPT_LAYOUT: the program of tests/e2e/programs/stack)

FILE is an interpreter or its library. DEBUG has its debug information, if FILE has none: a file for CPython, the folder of the
headers (.../include/php/20240924) for PHP. Exits with 1 where a member differs."""

import os
import re
import subprocess
import sys
import tempfile

CPYTHON, PHP = 1, 2
RUNTIMES = {CPYTHON: "CPython", PHP: "PHP"}
FRAME, THREAD, CODE, TEXT = "_PyInterpreterFrame", "_ts", "PyCodeObject", "PyASCIIObject"


def offset(struct, member):
    return "(long)&((%s *)0)->%s" % (struct if struct.startswith("Py") else "struct " + struct, member)


def word(member):
    return "((long)&((struct _Py_DebugOffsets *)0)->%s) / 8" % member


# member of the layout -> expressions of which the first one that the debug information knows is the truth
PYTHON = {
    "frame_code": [offset(FRAME, "f_executable"), offset(FRAME, "f_code"), offset("PyFrameObject", "f_code")],
    "frame_previous": [offset(FRAME, "previous"), offset("PyFrameObject", "f_back")],
    "entry_mark": [offset(FRAME, "is_entry"), offset(FRAME, "owner")],
    "entry_value": ["sizeof(((struct %s *)0)->is_entry)" % FRAME, "(long)FRAME_OWNED_BY_INTERPRETER", "(long)FRAME_OWNED_BY_CSTACK"],
    "thread_frame": [offset(THREAD, "current_frame")],
    "thread_next": [offset(THREAD, "next")],
    "thread_id": [offset(THREAD, "thread_id")],
    "code_type": [offset("PyObject", "ob_type")],
    "code_name": [offset(CODE, "co_qualname"), offset(CODE, "co_name")],
    "code_file": [offset(CODE, "co_filename")],
    "code_lines": [offset(CODE, "co_linetable"), offset(CODE, "co_lnotab")],
    "code_number": [offset(CODE, "co_version") + " & ~7"],  # the word that has it
    "first_line": [offset(CODE, "co_firstlineno")],
    "text_ascii": ["sizeof(PyASCIIObject)"],
    "text_wide": ["sizeof(PyCompactUnicodeObject)"],
    # What the walk takes for granted: these words of a string object are read, by their places in abi/script.h.
    "text_length": [offset(TEXT, "length")],
    "text_hash": [offset(TEXT, "hash")],
    "text_state": [offset(TEXT, "state")],
    # Printed only: the words of a line of `versions[]` since 3.13.
    "word_next": [word("thread_state.next")],
    "word_id": [word("thread_state.thread_id")],
    "word_previous": [word("interpreter_frame.previous")],
    "word_filename": [word("code_object.filename")],
}
GRANTED = {"text_length": 16, "text_hash": 24, "text_state": 32}
PHP_MEMBERS = {
    "code_count": "offsetof(zend_op_array, last)",
    "code_lines": "offsetof(zend_op_array, opcodes)",
    "code_name": "offsetof(zend_op_array, function_name)",
    "code_owner": "offsetof(zend_op_array, scope)",
    "code_file": "offsetof(zend_op_array, filename)",
    "first_line": "offsetof(zend_op_array, line_start)",
    "code_unit": "sizeof(zend_op)",
    "frame_place": "offsetof(zend_execute_data, opline)",
    "frame_code": "offsetof(zend_execute_data, func)",
    "frame_previous": "offsetof(zend_execute_data, prev_execute_data)",
    "entry_mark": "offsetof(zend_execute_data, This.u1.type_info) + __builtin_ctz(ZEND_CALL_TOP) / 8",
    "entry_value": "1 << __builtin_ctz(ZEND_CALL_TOP) % 8",
    "owner_name": "offsetof(zend_class_entry, name)",
    "text_ascii": "offsetof(zend_string, val)",
    "exception": "offsetof(zend_executor_globals, exception_op)",  # printed only: the layout has an address instead
}


def read_layout(program, path):
    """Member -> number, by the reader. Exit status 1: the version or build is not known."""
    done = subprocess.run([program, path], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        sys.exit(done.stderr or "%s ended with %d" % (program, done.returncode))
    return {name: int(number) for name, number in map(str.split, done.stdout.splitlines())}, done.returncode == 0


def read_debug(path):
    """The same by gdb. An expression that the debug information does not know is left out."""
    words = ["gdb", "-batch", "-nx"]
    for name, expressions in PYTHON.items():
        for expression in reversed(expressions):  # the first one has the last word
            words += ["-ex", "output/d " + expression, "-ex", "echo \\ %s\\n" % name]
    done = subprocess.run([*words, path], capture_output=True, text=True, check=False)
    return {name: int(number) for number, name in re.findall(r"^(\d+) (\w+)$", done.stdout, re.M)}


def read_headers(folder):
    """The same by a program that is built with the headers."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", '#include "php.h"', '#include "zend_compile.h"', '#include "zend_globals.h"', "int main(void) {"]
    lines += ['printf("%s %%ld\\n", (long)(%s));' % item for item in PHP_MEMBERS.items()]
    with tempfile.TemporaryDirectory(prefix="script-offsets-") as scratch:
        source, program = os.path.join(scratch, "print.c"), os.path.join(scratch, "print")
        with open(source, "w", encoding="ascii") as file:
            file.write("\n".join([*lines, "return 0; }\n"]))
        flags = ["-w", "-D_GNU_SOURCE"] + ["-I" + os.path.join(folder, part) for part in ("", "main", "Zend", "TSRM")]
        subprocess.run([os.environ.get("CC", "cc"), *flags, "-o", program, source], check=True)
        return {name: int(number) for name, number in map(str.split, subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines())}


def compare(layout, truth):
    """The members of both that differ, and the number of members that were compared. Members of other versions are 0."""
    unused = {name for name in ("thread_frame", "thread_next", "thread_id") if not layout["thread_frame"]}
    unused |= {"code_number"} if not layout["code_number"] else set()
    both = [name for name in truth if name in {**layout, **GRANTED} and name not in unused]
    differ = {name: ({**layout, **GRANTED}[name], truth[name]) for name in both if {**layout, **GRANTED}[name] != truth[name]}
    return differ, len(both)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    layout, is_known = read_layout(*sys.argv[1:3])
    if layout["runtime"] not in RUNTIMES:
        sys.exit("%s: no interpreter whose debug information or headers can be read" % sys.argv[2])
    source = sys.argv[-1]
    truth = read_debug(source) if layout["runtime"] == CPYTHON else read_headers(source)
    if not truth:
        sys.exit("%s: no debug information" % source)
    print("%s %#x: %s" % (RUNTIMES[layout["runtime"]], layout["version"], "known" if is_known else "no frame is read"))
    differ, _ = compare(layout, truth) if is_known else ({}, 0)
    for name, number in truth.items():
        read = "" if not is_known else layout.get(name, GRANTED.get(name, "-"))
        print("%-16s %6d %6s%s" % (name, number, read, "  differs" if name in differ else ""))
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
