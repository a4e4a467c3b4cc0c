#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The offsets by which frames of scripts are read are those of the interpreters here that have debug information or headers."""

import glob
import os

import script_offsets
from harness.cases import main, needs_command, program
from harness.skip import Skip


def check(path, truth):
    """The members of the reader's layout are those of `truth`."""
    layout, is_known = script_offsets.read_layout(program("script_layout"), path)
    differ, compared = script_offsets.compare(layout, truth)
    assert is_known and not differ and compared >= 12, (path, layout, truth, differ)
    return layout


def libraries(minor):
    """Libraries of CPython 3.`minor` with debug information."""
    return sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.%d.*/lib/libpython3.%d.so.1.0" % (minor, minor))))


def test_python():
    needs_command("gdb", "--version")
    checked = []
    for minor in range(9, 16):
        for path in libraries(minor):
            truth = script_offsets.read_debug(path)
            if "frame_previous" in truth:
                check(path, truth)
                checked.append(path)
    if not checked:
        raise Skip("no library of CPython 3.9 to 3.15 with debug information here")


def test_a_version_that_is_not_known_has_its_offsets_told():
    needs_command("gdb", "--version")
    for path in libraries(8):
        truth = script_offsets.read_debug(path)
        if not truth:
            continue
        layout, is_known = script_offsets.read_layout(program("script_layout"), path)
        assert layout["runtime"] == script_offsets.CPYTHON and not is_known and truth["text_hash"] == 24, (layout, truth)
        return
    raise Skip("no library of CPython 3.8 with debug information here")


def test_php():
    needs_command(os.environ.get("CC", "cc"), "--version")
    found = 0
    for path in glob.glob("/usr/bin/php8.[0-9]"):
        layout, _ = script_offsets.read_layout(program("script_layout"), path)
        folder = "/usr/include/php/%d" % layout["version"]
        if os.path.isdir(os.path.join(folder, "Zend")):
            check(path, script_offsets.read_headers(folder))
            found += 1
    if not found:
        raise Skip("no PHP with headers here (Debian package php8.2-dev)")


def test_a_wrong_offset_is_found():
    layout = {"thread_frame": 72, "code_number": 88, "frame_code": 0, "code_name": 128}
    assert script_offsets.compare(layout, {"frame_code": 0, "code_name": 128, "text_hash": 24, "unknown": 1}) == ({}, 3)
    assert script_offsets.compare(layout, {"frame_code": 8, "code_name": 128}) == ({"frame_code": (0, 8)}, 2)
    assert script_offsets.compare(layout, {"text_hash": 16}) == ({"text_hash": (24, 16)}, 1)
    assert script_offsets.compare({**layout, "thread_frame": 0}, {"thread_frame": 72}) == ({}, 0), "3.11 and 3.12 read no such word"


if __name__ == "__main__":
    main(globals())
