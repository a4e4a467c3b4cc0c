#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Common rules of all views: code without a symbol is named by its file and its function's offset, never by a neighbouring
function; names of symbol tables need no open file; recordings without events, or only with losses, are shown as such."""

import json
import platform
import re
import subprocess

from harness.cases import STACKMAP, Skip, main, needs_command, program, run, stackmap
from harness.inlined_program import build, record_calls
from harness.recording import Recording, check_ledger

PLACE = r"nameless\+0x[0-9a-f]+(?:\.\.0x[0-9a-f]+)?"
OUTPUTS = {
    "report": ["report", "--no-pager"],
    "table": ["report", "--no-pager", "--sort", "symbol"],
    "tree": ["report", "--no-pager", "--tree"],
    "report --json": ["report", "--json"],
    "report --csv": ["report", "--csv"],
    "script": ["script"],
    "folded": ["export", "-f", "folded"],
    "json": ["export", "-f", "json"],
    "speedscope": ["export", "-f", "speedscope"],
    "chrome": ["export", "-f", "chrome"],
    "flamegraph": ["flamegraph", "-o", "page.html"],
}


def shown(made, arguments, **options):
    text = made.read(*arguments, **options)
    if "page.html" not in arguments:
        return text
    with open("page.html", encoding="utf-8") as file:
        return file.read()


def nameless():
    build("nameless")
    run("objcopy", "-S", "nameless")
    return record_calls("nameless")


def test_code_without_symbols():
    made = nameless()
    places = set(re.findall(PLACE, made.script))
    assert len(places) >= 3 and all(".." in place for place in places), made.script
    for view, arguments in OUTPUTS.items():
        assert set(re.findall(PLACE, shown(made, arguments))) == places, view
    text = made.read("export", "-f", "perf-script")  # perf has this word for it, and the place beside it
    for address in re.findall(r"^\t *([0-9a-f]+) nameless\+0x", made.script, re.MULTILINE):
        assert re.search(r"^\t *%s \[unknown\] \(.*/nameless\)$" % address, text, re.MULTILINE), (address, text)


SHARED_CODE = """
#include <string.h>
#include <sys/mman.h>
int main(void)
{ static const unsigned char ask[] = {0xb8, 110, 0, 0, 0, 0x0f, 0x05, 0xc3}; /* getppid() */
  char *code = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  memcpy(code, ask, sizeof(ask));
  for (int i = 0; i < 5; i++) ((void (*)(void))code)();
  return 0; }
"""


def test_code_in_shared_memory():
    """It has no file that could be called by its name."""
    if platform.machine() != "x86_64":
        raise Skip("the test program makes its system calls for x86-64")
    with open("shared.c", "w", encoding="ascii") as file:
        file.write(SHARED_CODE)
    run("gcc", "shared.c", "-o", "shared")
    made = record_calls("shared")
    frames = re.findall(r"\t +([0-9a-f]+) 0x([0-9a-f]+) \(\[anon\]\)\n", made.script)
    assert len(frames) == 5 and {address for frame in frames for address in frame} == {frames[0][0]}, made.script
    assert [stack["user"][0] for stack in json.loads(made.read("report", "--json"))["stacks"]] == ["0x" + frames[0][0]]


def test_live_view_of_code_without_symbols():
    places = set(re.findall(PLACE, nameless().script))
    with subprocess.Popen([STACKMAP, "top", "--batch", "--delay", "1", "--comm", "nameless", "-e",
                           "syscalls:sys_enter_getppid"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as top:
        try:
            top.stdout.readline()
            run("./nameless")
            seen = set()
            while seen != places:
                line = top.stdout.readline()
                assert line, seen
                seen |= set(re.findall(PLACE, line))
                assert seen <= places, line
        finally:
            top.terminate()


def test_fast_names_open_the_recording_only():
    needs_command("strace", "true")
    build("fast")
    made = record_calls("fast")
    for arguments in ["report"], ["script"], ["export"], ["flamegraph", "-o", "page.html"], ["diff", made.path]:
        run("strace", "-f", "-o", "calls", "-e", "trace=/open|fork|clone", STACKMAP, *arguments, "--no-inline", made.path)
        with open("calls", encoding="utf-8", errors="replace") as file:
            calls = file.read()
        assert made.path in calls and "/fast" not in calls and "debug" not in calls, calls
        assert not re.search(r"^\d+ +(v?fork|clone3?)\(", calls, re.MULTILINE), calls


def test_a_stack_alone_and_behind_a_leaf():
    """Behind a leaf its innermost frame is a return address, which belongs to the function before it; alone it is where the
    event happened. Each of the three events shows its own lines, whichever came first."""
    run(program("write_leaf"), "leaf.data")
    shown_frames = [re.findall(r"^\t +[0-9a-f]+ (\w+)\+", event, re.MULTILINE)
                    for event in run(STACKMAP, "script", "leaf.data").stdout.split("\n\n")[:-1]]
    assert shown_frames == [["second", "first"], ["leaf", "first", "first"], ["second", "first"]], shown_frames


# Recordings that have little in them.

KINDS = {"nothing": 0, "no-events": 0, "only-lost": 0, "no-stacks": 3, "only-kernel": 3, "unfinished": 3, "no-values": 3,
         "great-values": 3}
NO_NUMBER = re.compile(r"(?<![\w.])[+-]?(nan|inf(inity)?)\b", re.IGNORECASE)


def odd(kind):
    run(program("write_odd"), kind, kind + ".data")
    return Recording(kind + ".data")


def check_text(made, arguments):
    text = shown(made, arguments)
    if "page.html" in arguments:
        text = text[text.index("<body"):]  # the scripts know these words
    assert not NO_NUMBER.search(re.sub(r"<script.*?</script>", "", text, flags=re.DOTALL)), (made.path, arguments, text[-2000:])
    for share in re.findall(r"([0-9.]+)%", text) if arguments[0] in ("report", "diff") else []:
        assert float(share) <= 100, text
    if "json" in " ".join(arguments) or arguments[-1] in ("speedscope", "chrome"):
        json.loads(text, parse_constant=lambda word: (_ for _ in ()).throw(AssertionError(word)))


def test_odd_recordings():
    for kind, events in KINDS.items():
        made = odd(kind)
        for arguments in [*OUTPUTS.values(), ["report", "--json", "--tree"], ["report", "--json", "--sort", "dso"],
                          ["export", "-f", "perf-script"], ["script", "--lines"], ["script", "--ids"]]:
            check_text(made, arguments)
        for output in "pprof", "stack_map_bin", "mappings":
            made.read("export", "-f", output, "-o", "out")
        report = json.loads(made.read("report", "--json"))
        assert sum(stack["count"] for stack in report["stacks"]) == events, report
        assert (report["ledger"] is None) == (kind in ("nothing", "unfinished")), kind
        if report["ledger"]:
            check_ledger(report["ledger"])
            assert report["ledger"]["produced"] == (1000 if kind == "only-lost" else events)


def test_odd_recordings_beside_each_other():
    recordings = {kind: odd(kind) for kind in KINDS}
    for before in (recordings[kind] for kind in ("no-events", "only-kernel", "no-values")):
        for after in recordings.values():
            check_text(after, ["diff", before.path])
            check_text(after, ["diff", "--json", before.path])
    stackmap("merge", "-o", "merged.data", *[made.path for made in recordings.values()])
    merged = Recording("merged.data")
    check_text(merged, ["report", "--no-pager"])
    assert sum(stack["count"] for stack in merged.report()["stacks"]) == sum(KINDS.values())


main(globals())
