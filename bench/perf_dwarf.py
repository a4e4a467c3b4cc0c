# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""
The peer of user stacks without frame pointers: `perf record --call-graph dwarf` copies registers and
8 KiB of stack with every sample, and perf script unwinds them afterwards.
"""
import os
import re
import subprocess

import measure

CALL_GRAPH = ["--call-graph", "dwarf"]
LINE_FRAME = re.compile(r"^\t *[0-9a-f]+ (.*) \((.*)\)$")


def record(arguments, file, command, call_graph=CALL_GRAPH):
    return ["perf", "record", "-q", *call_graph, *arguments, "-o", file, "--", *command]


def counts(file):
    """Samples in the file, and what perf had to drop because it could not write that fast."""
    text = measure.run(["perf", "report", "-i", file, "--stats"])
    found = dict(re.findall(r"^ *(\w+) events: +(\d+)", text, re.MULTILINE))
    return int(found.get("SAMPLE", 0)), int(found.get("LOST_SAMPLES", 0)) + int(found.get("LOST", 0))


def stacks(command):
    """The frames of each event in the text of a `script` command: (symbol, object), innermost first."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                               errors="replace")
    frames = None
    for line in process.stdout:
        frame = LINE_FRAME.match(line)
        if frame:
            frames.append((frame[1], frame[2]))
        elif line.strip():
            frames = []
        elif frames is not None:
            yield frames
            frames = None
    process.wait()


def need_dwarf():
    measure.need_perf()
    if not measure.works(record(["-F", "99"], os.devnull, ["true"])):
        measure.skip("perf cannot record user stacks here")
