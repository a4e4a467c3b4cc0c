#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Exports are read by other tools: speedscope and its schema, a public stackcollapse. (go tool pprof is in test_export.)
They are npm packages; ./setup check gets them."""

import base64
import json
import os
import re

from harness import browser
from harness.cases import PROGRAMS, Skip, main, run
from harness.exportable import export, in_folder, inlined, real, report_of, small
from harness.exported import as_perf_script

READERS = os.path.join(PROGRAMS, "..", "..", "readers", "node_modules")
SPEEDSCOPE = os.path.join(READERS, "speedscope", "dist", "release")


def reader(path):
    path = os.path.join(READERS, path)
    if not os.path.exists(path):
        raise Skip("%s is not installed: './setup check' does it" % os.path.relpath(path, READERS))
    return path


def written(form, recording, name):
    path = in_folder(name)
    with open(path, "w") as file:
        file.write(export(form, recording))
    return path


def each_recording():
    yield small()
    yield real()
    yield inlined()


def test_schema_of_speedscope():
    validate = [reader(".bin/ajv"), "validate", "--strict=false", "-s", os.path.join(SPEEDSCOPE, "file-format-schema.json"), "-d"]
    for recording in each_recording():
        run(*validate, written("speedscope", recording, "export.json"))
    broken = json.loads(export("speedscope", small()))
    broken["profiles"][0]["weights"][0] = "1"
    with open(in_folder("broken.json"), "w") as file:
        json.dump(broken, file)
    run(*validate, in_folder("broken.json"), status=1)


def open_in_speedscope(page, path):
    """As its own command does: a script that hands the file over. Returns the page's title once it has read the file."""
    with open(path, "rb") as file:
        text = base64.b64encode(file.read()).decode()
    script = path + ".js"
    with open(script, "w") as file:
        file.write("speedscope.loadFileFromBase64(%s, %s)" % (json.dumps(os.path.basename(path)), json.dumps(text)))
    page.open(reader("speedscope/dist/release/index.html"), fragment="localProfilePath=" + script)
    return page.value("""new Promise(done => {
        const look = tries => document.title === 'speedscope' && tries ? setTimeout(look, 20, tries - 1) : done(document.title);
        look(3000);
    })""")


def test_speedscope_opens_them():
    for form in ("speedscope", "perf-script"):
        for recording in each_recording():
            path = written(form, recording, "opened-" + form)
            with browser.page() as page:
                title = open_in_speedscope(page, path)
            assert title.endswith(" - speedscope"), (form, title)


def as_collapsed(task, stack):
    """The tool's form of a stack: the task before each frame, no arguments of functions."""
    return ",".join("%s`%s" % (task, re.sub(r"(..)[(<].*", r"\1", name)) for name in stack)


def collapsed(text):
    """stack -> count, added up over tasks and events."""
    sums = {}
    for line in text.splitlines():
        stack, _, count = line.rpartition(" ")
        stack = re.sub(r"\+0x[0-9a-f]+(?=,|$)", "", stack)
        sums[stack] = sums.get(stack, 0) + int(count)
    return sums


def test_stackcollapse():
    """It knows a task by letters and digits only, and leaves out events without a stack."""
    collapse = reader(".bin/stackcollapse-perf")
    for recording in (real(), inlined()):
        expected = {}
        for (_, task, stack), (count, _) in report_of(recording).renamed(as_perf_script).items():
            if stack and re.fullmatch(r"\w+", task):
                expected[as_collapsed(task, stack)] = expected.get(as_collapsed(task, stack), 0) + count
        with open(written("perf-script", recording, "script.txt")) as file:
            found = collapsed(run(collapse, stdin=file).stdout)
        wrong = {stack for stack in expected if found.get(stack) != expected[stack]}
        assert expected and not wrong, [(stack, found.get(stack), expected[stack]) for stack in list(wrong)[:3]]


main(globals())
