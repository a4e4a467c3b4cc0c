#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names that a terminal or a spreadsheet would interpret are printed as text: by each command, for a recording with only
such names, and in messages about unknown words."""

import csv
import io
import json
import os
import re

from harness.cases import main, program, run, stackmap
from harness.odd_names import CLASSES, check_shown, is_utf8, name_of, outputs

# The options with which each command prints a recording; {0} and {1} are two recordings, "." is no option.
VIEWS = {
    "report": [["{0}"], ["--tree", "{0}"], ["--callers", "ab*", "{0}"], ["--callees", "ab*", "{0}"], ["--csv", "{0}"],
               ["--missing", "{0}"], ["--sort", "event,comm,cgroup,dso,symbol", "{0}"], ["--fields", "value,comm", "{0}"],
               ["--csv", "--sort", "event,comm,cgroup,dso,symbol", "{0}"], ["--dsos", "ab*", "{0}"]],
    "diff": [["{0}", "{1}"], ["--stacks", "{0}", "{1}"], ["--sort", "comm,dso,symbol", "{0}", "{1}"],
             ["--csv", "{0}", "{1}"], ["--csv", "--stacks", "{0}", "{1}"]],
    "script": [["{0}"], ["--ids", "{0}"], ["--lines", "--show-cgroup", "{0}"]],
    "export": [["-f", "folded", "{0}"], ["-f", "perf-script", "{0}"]],
}
# Formats that escape names and keep their bytes.
EXACT = {
    "report": [["--json", "{0}"], ["--json", "--missing", "{0}"], ["--json", "--tree", "{0}"],
               ["--json", "--sort", "comm,cgroup,dso,symbol", "{0}"]],
    "diff": [["--json", "{0}", "{1}"], ["--json", "--stacks", "{0}", "{1}"]],
    "export": [["-f", form, "{0}"] for form in ("json", "speedscope", "chrome")],
}
# Commands that print only messages about a recording, or have tests of their own.
OTHERS = {"record", "start", "status", "pause", "resume", "reset", "stop", "flamegraph", "merge", "import", "dump", "top", "list",
          "doctor", "agent", "hosts", "store"}


def commands():
    return re.findall(r"^  (\w+) ", stackmap("help").stdout, re.M)


def test_each_command_is_known_here():
    """A new command must be added to one of the lists above."""
    assert set(commands()) == {*VIEWS, *EXACT, *OTHERS}


def recordings(name):
    for path in "a.data", "b.data":
        run(program("write_names"), os.fsdecode(name), path)
    return "a.data", "b.data"


def each_view(views, files):
    for command, all_words in views.items():
        for words in all_words:
            yield [command, *(word.format(*files) for word in words)]


def test_views():
    for kind in CLASSES:
        for words in each_view(VIEWS, recordings(name_of(kind))):
            printed, said = outputs(*words)
            assert not said, (kind, words, said)
            no_change = words[0] == "diff" and "--csv" not in words
            check_shown((kind, words), printed, seen=not no_change)


def strings(value):
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(part)


def test_json_is_exact():
    for kind in CLASSES:
        name = name_of(kind)
        for words in each_view(EXACT, recordings(name)):
            printed, _ = outputs(*words)
            assert printed.isascii() and b"\x7f" not in printed, (kind, words)
            check_shown((kind, words), printed, seen=False)
            found = set(strings(json.loads(printed)))
            if is_utf8(name):
                assert name.decode() in found, (kind, words, found)
            else:
                assert any(text.startswith("ab?") and text.endswith("yz") for text in found), (kind, words, found)


def unescaped(line):
    return re.sub(rb"\\([0-7]{3})", lambda digits: bytes([int(digits[1], 8)]), line)


def test_mappings_are_exact():
    """And what dump reads of them is shown as everywhere."""
    for kind in CLASSES:
        name, files = name_of(kind), recordings(name_of(kind))
        printed, _ = outputs("export", "-f", "mappings", files[0])
        check_shown(kind, printed, seen=False)
        kernel, user = printed.splitlines()
        assert unescaped(user) == b"1 - " + name and unescaped(kernel).startswith(b"kernel %s 0x" % name), (kind, printed)
        with open("map", "wb") as file:
            file.write(user + b"\n")
        with open("syms", "wb") as file:
            file.write(b"ffffffffc0000000 t %s\nffffffffc0001000 t end\n" % name)
        outputs("export", "-f", "stack_map_bin", "-o", "bin", files[0])
        for names in ["--mappings", "map"], ["--kallsyms", "syms"]:
            printed, _ = outputs("dump", *names, "bin")
            check_shown((kind, names), printed, seen="\n" not in name.decode(errors="replace") or "map" in names)
            printed, _ = outputs("dump", "--json", *names, "bin")
            assert printed.isascii() and b"\x7f" not in printed and json.loads(printed), (kind, names)


def test_pages():
    for kind in CLASSES:
        printed, _ = outputs("flamegraph", "-o", "-", recordings(name_of(kind))[0])
        check_shown(kind, printed, seen=False)


def test_messages():
    """Of each command: about options, operands and values that it does not know."""
    for kind in CLASSES:
        name = name_of(kind)
        for words in [name], [b"help", name], [b"--complete", b"record", name]:
            check_shown((kind, words), b"".join(outputs(*words, status=None)), seen=b"--complete" not in words)
        for command in commands():
            for words in [b"--" + name], [name] * 3, [b"-e", name, name], [b"-e", name]:
                printed, said = outputs(command, *words, status=None)
                check_shown((kind, command, words), printed, seen=False)
                check_shown((kind, command, words), said, seen=words == [b"--" + name])
        for words in [b"report", name], [b"script", name], [b"merge", b"-o", b"out", name], [b"dump", name], [b"record", name]:
            check_shown((kind, words), outputs(*words, status=1)[1])


def cells(words):
    rows = list(csv.reader(io.StringIO(outputs(*words)[0].decode())))
    return [cell for row in rows[1:] for cell in row]


NUMBER = re.compile(r"[+-]?[0-9.]+")


def test_no_cell_is_a_formula():
    """Spreadsheets that separate cells by `;` ignore quotes. Without the mark the cell is the name."""
    for name in "=1+1", "+1", "-1+1", "@SUM(1)", "'=1", "=1,1", '="1', "a;=1", "\uff1d1":
        files = recordings(name)
        for words in each_view(VIEWS, files):
            if "--csv" not in words:
                continue
            found = [cell for cell in cells(words) if not NUMBER.fullmatch(cell)]
            assert found and not any(part.lstrip()[:1] in tuple("=+-@\uff1d") for cell in found for part in cell.split(";") if part)
            assert name in [re.sub("(^|;)'", r"\1", cell) for cell in found], (name, words, found)


main(globals())
