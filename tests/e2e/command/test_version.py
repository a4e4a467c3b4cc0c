#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The text for bug reports: the libraries that the program was built with, and the ways of a recording on this machine,
which are those of doctor."""

import os
import re
import shutil

from harness.cases import SECONDS_MAX, STACKMAP, features, main, needs_command, run, stackmap

SOURCES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..")
MADE = ["commit", "compiler", "BPF compiler", "libbpf", "kernel"]
WAYS = ["PID namespace", "CPU samples", "tracepoints", "user functions", "kernel functions", "many at once", "user stacks"]


def verbose(*prefix):
    """name -> text, in order; the first line is that of --version alone."""
    first, *lines = run(*prefix, STACKMAP, "--version", "--verbose").stdout.splitlines()
    assert first + "\n" == stackmap("--version").stdout
    return {name.strip(): value.strip() for name, value in (line.split(":", 1) for line in lines)}


def test_alone_it_is_one_line():
    assert re.fullmatch(r"stackmap \d+\.\d+\.\d+\n", stackmap("--version").stdout)


def test_nothing_else_can_follow():
    for words in ["--json"], ["--verbose", "--verbose"]:
        done = stackmap("--version", *words, status=2)
        assert done.stderr.count("\n") == 1 and not done.stdout, done


def test_of_what_it_was_made():
    found = verbose()
    assert list(found) == MADE + WAYS or list(found) == MADE + ["ways"], found
    here = bool(run(os.path.join(SOURCES, "scripts", "source-commit")).stdout)
    assert re.fullmatch(r"[0-9a-f]{12}(\+changes)?" if here else "none: .*", found["commit"]), found
    assert re.fullmatch(r"(gcc|Clang|clang) .*\d+\.\d+.*", found["compiler"]), found
    assert re.fullmatch(r"clang \d+\.\d+\.\d+.*", found["BPF compiler"]), found
    assert re.fullmatch(r"\d+\.\d+ compiled against, v\d+\.\d+ running", found["libbpf"]), found
    assert found["kernel"] == "%s %s, %s" % (os.uname().sysname, os.uname().release, os.uname().machine)


def test_the_ways_are_those_of_doctor():
    found, works = verbose(), features()
    if works["bpf"]:
        assert found["ways"].endswith("run this as root"), found
        return
    assert found["user stacks"].startswith("assisted" if works["BPF task work"] else "deferred")
    assert found["tracepoints"].startswith("a program each" if works["raw tracepoint cookies"] else "one program")
    assert found["user functions"].startswith("a uprobe each" if works["uprobe multi"] else "one link")
    assert (found["kernel functions"] == "none") == bool(works["fentry"] and works["kprobes"])
    assert found["many at once"].startswith("one link") == (not works["kprobe multi"])


def test_without_privileges():
    needs_command("setpriv", "--bounding-set=-all", "true")
    assert "root" in verbose("setpriv", "--bounding-set=-all", "--inh-caps=-all")["ways"]


def test_a_tarball_has_no_commit():
    """Not even that of a work tree around it."""
    needs_command("git", "--version")
    os.makedirs("around/unpacked/scripts")
    run("git", "init", "around")
    copy = shutil.copy(os.path.join(SOURCES, "scripts/source-commit"), "around/unpacked/scripts")
    assert not run(os.path.abspath(copy), timeout=SECONDS_MAX).stdout


main(globals())
