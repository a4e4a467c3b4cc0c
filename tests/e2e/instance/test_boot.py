#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The unit that starts an instance at boot: systemd understands it, and its command lines do what they say."""

import os
import shlex
import shutil

from harness.cases import STACKMAP, main, needs, needs_command, run
from harness.engine_folder import HOME, enter_own_mounts, fresh_bpffs

BUILD = os.path.dirname(os.path.dirname(STACKMAP))
UNIT = os.path.join(BUILD, "systemd", "stackmap@.service")
OPTIONS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "..", "systemd", "slab.conf")


def lines(path, key):
    """The values of KEY=VALUE lines."""
    with open(path, encoding="ascii") as file:
        return [line.rstrip("\n").partition("=")[2] for line in file if line.startswith(key + "=")]


def run_line(key):
    """As systemd would: the name for %i, the words of the options, and no shell. Of the program that was built."""
    line, = lines(UNIT, key)
    options, = lines(OPTIONS, "OPTIONS")
    program, *words = shlex.split(line.replace("$OPTIONS", options))
    assert os.path.basename(program) == "stackmap"
    return run(STACKMAP, *[word.replace("%i", "slab") for word in words])


def test_systemd_understands_it():
    needs_command("systemd-analyze", "--version")
    with open(UNIT, encoding="ascii") as file:
        text = file.read()
    line, = lines(UNIT, "ExecStart")
    with open("stackmap@.service", "w", encoding="ascii") as file:
        file.write(text.replace(shlex.split(line)[0], STACKMAP))
    shutil.copy("stackmap@.service", "stackmap@slab.service")
    done = run("systemd-analyze", "verify", "--man=no", "./stackmap@slab.service", status=None)
    complaints = [line for line in done.stderr.splitlines() if "stackmap" in line]
    assert not complaints, complaints
    with open("stackmap@slab.service", "a", encoding="ascii") as file:
        file.write("[Service]\nNoSuchSetting=1\n")
    done = run("systemd-analyze", "verify", "--man=no", "./stackmap@slab.service", status=None)
    assert "NoSuchSetting" in done.stderr, "it would have complained"


def test_its_lines_start_and_stop():
    needs("bpf", "raw tracepoints", "tracefs")
    fresh_bpffs()
    run_line("ExecStart")
    assert {"pins", "stack_map", "stack_map_bin", "stack_map_stat", "mappings", "trace"} <= set(os.listdir(HOME + "/slab"))
    run("ls", "/")
    with open(HOME + "/slab/stack_map_stat", encoding="ascii") as file:
        figures = dict(line.rstrip("\n").split(": ", 1) for line in file)
    assert int(figures["successes"]) > 0, figures
    run_line("ExecStop")
    assert not os.path.exists(HOME), os.listdir(HOME)


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
