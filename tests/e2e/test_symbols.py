#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names that the recorder did not have: inlined functions, lines of source, symbols of stripped programs."""

import os
import shutil

from cases import main, program, run, stackmap
from inlined_program import INLINED, build, hottest, record_calls, split


def names(made, *options):
    return hottest(made.read("report", "--json", *options))


def test_inlined_functions():
    build("whole")
    made = record_calls("whole")
    assert names(made) == INLINED
    assert names(made, "--no-inline")[:2] == INLINED[1:]
    assert ";main;outer;inner" in made.read("export", "-f", "folded")
    text = made.read("script")
    assert text.count(" inner (inlined)\n") == 5
    assert text.count(" outer+0x") == 5


def test_lines():
    build("lines")
    made = record_calls("lines")
    text = made.read("script", "--lines")
    path = os.path.realpath("lines.c")
    for function, line in ("inner (inlined)", 3), ("outer+0x", 5), ("main+0x", 7):
        _, found, below = text.partition(" " + function)
        assert found and below.split("\n")[1] == "  %s:%d" % (path, line), text
    text = made.read("script", "-l", "--no-inline")
    assert "inlined" not in text and "  %s:3\n" % path in text, text


def test_stripped_program():
    build("bare")
    split("bare")
    made = record_calls("bare")
    assert all(name.startswith("bare+0x") for name in names(made, "--no-inline")[:2])
    assert names(made) == INLINED
    os.makedirs("system" + os.getcwd())
    shutil.move("bare.debug", "system" + os.getcwd())
    assert names(made, "--no-cache")[0].startswith("bare+0x")
    assert names(made, "--sysroot", "system") == INLINED
    shutil.move("bare", "system" + os.getcwd())
    assert names(made, "--sysroot", "system") == INLINED


def test_another_build():
    build("changed")
    made = record_calls("changed")
    assert names(made) == INLINED
    run("gcc", "-O1", "-g", "-Wl,--build-id", "changed.c", "-o", "changed")
    assert names(made, "--no-cache")[:2] == INLINED[1:]


def test_damaged_debug_file():
    build("damaged")
    split("damaged")
    made = record_calls("damaged")
    with open("damaged.debug", "r+b") as file:
        data = file.read()
        for at in range(400, len(data), 97):
            file.seek(at)
            file.write(b"\xff")
    assert len(names(made)) == 3
    with open("damaged.debug", "wb") as file:
        file.write(data[:1000])
    assert names(made)[0].startswith("damaged+0x")


def test_files_that_the_user_names():
    build("named")
    made = record_calls("named")
    for option, words in ("--sysroot", "No such file"), ("--vmlinux", "No such file"), ("--kallsyms", "No such file"):
        done = stackmap("report", option, "missing", made.path, status=1)
        assert words in done.stderr and not done.stdout, done
    done = stackmap("report", "--kallsyms", "named.c", made.path, status=1)
    assert "named.c" in done.stderr, done.stderr
    done = stackmap("report", "--vmlinux", "named", made.path)
    assert "not the recorded kernel" in done.stderr or "kernel" not in done.stdout, done.stderr


KALLSYMS = """ffffffff81000000 T _stext
ffffffff81000000 T kept_name
ffffffff81000100 T _etext
"""


def test_kallsyms_of_one_boot():
    """Of no recording the kernel's place is known: only their times tell boots apart."""
    with open("kallsyms", "w", encoding="ascii") as file:
        file.write(KALLSYMS)
    for name, later in ("first", 0), ("same", 1), ("other", 3600):
        run(program("write_odd"), "only-kernel", name, later)
    for command in ["report", "first"], ["report", "other"], ["diff", "--json", "first", "same"], ["flamegraph", "-o-", "first", "same"]:
        done = stackmap(*command, "--kallsyms", "kallsyms")
        assert "kept_name" in done.stdout and "not used" not in done.stderr, (command, done)
    for command in ["diff", "--json", "first", "other"], ["flamegraph", "-o-", "first", "other"]:
        done = stackmap(*command, "--kallsyms", "kallsyms")
        assert "kept_name" not in done.stdout, command
        assert done.stderr.count("stackmap: kallsyms: not used for the recording of 20") == 2, done.stderr


def test_files_that_are_not_used():
    build("unused")
    made = record_calls("unused")
    for option, value in ("--vmlinux", "unused"), ("--sysroot", "."):
        done = stackmap("report", "--no-inline", option, value, made.path)
        assert done.stderr == "stackmap: %s is not used: --no-inline reads no debug information\n" % option, done.stderr
    assert not stackmap("script", "--no-inline", "--lines", "--sysroot", ".", made.path).stderr


if __name__ == "__main__":
    main(globals())
