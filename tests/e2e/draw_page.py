#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A page of `stackmap flamegraph` as Chromium draws it, as SVG: its rectangles and texts, which a diff can show, where
a picture of pixels would be a binary file.

draw_page.py STACKMAP PICTURE [RECORDING]

docs/flamegraph.svg is made by it. Without a recording it makes one, of a Python program that works in C code and in the
kernel."""

import itertools
import json
import os
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

from harness import browser

SIZE = (1000, 720)
RATE = 999
WORK = """
import json, os, re, zlib
text = "stack map, ring, ledger and cookie " * 5000
for turn in range(50):
    rows = [{"id": i, "name": str(i), "on": i % 2 == 0} for i in range(3000)]
    json.loads(json.dumps(rows))
    re.findall(r"(led|ring)[a-z]+ and", text)
    zlib.compress(text.encode())
    for i in range(1500):
        os.stat("/usr/lib")
"""
HEAD = """<!-- SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause -->
<!-- A page of stackmap flamegraph as Chromium draws it. Made by tests/e2e/draw_page.py. -->
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">
"""


def number(value):
    return ("%.1f" % value).removesuffix(".0")


def surface(shape):
    x, y, width, height = map(number, shape["rect"])
    line = ' rx="2" stroke="%s"' % shape["line"] if shape["line"] else ""
    return '<rect x="%s" y="%s" width="%s" height="%s" fill="%s"%s/>' % (x, y, width, height, shape["fill"], line)


def path_of(shape):
    x, y, width, height = shape["rect"]
    return "M%s %sh%sv%sh%sz" % tuple(map(number, (x, y, width, height, -width)))


def paths(shapes):
    """One for each colour, in the order in which they came: what is painted over, a background, came first."""
    by_fill = {}
    for shape in shapes:
        by_fill.setdefault(shape["fill"], []).append(path_of(shape))
    return ['<path fill="%s" d="%s"/>' % (fill, "".join(parts)) for fill, parts in by_fill.items()]


def look(shape):
    weight = ' font-weight="600"' if shape["bold"] else ""
    return 'font-family="%s" font-size="%s" fill="%s"%s' % (shape["font"], number(shape["size"]), shape["fill"], weight)


def texts(shapes):
    for attributes, group in itertools.groupby(sorted(shapes, key=look), look):
        yield "<g %s>" % attributes
        for shape in group:
            yield '<text x="%s" y="%s">%s</text>' % (*map(number, shape["at"]), escape(shape["text"]))
        yield "</g>"


def picture(page):
    """The SVG of the page's present state."""
    with open(os.path.join(os.path.dirname(os.path.realpath(__file__)), "draw_page.js"), encoding="ascii") as script:
        drawn = page.value(script.read())
    shapes = drawn["shapes"]
    surfaces = [shape for shape in shapes if "line" in shape]
    painted = [shape for shape in shapes if "rect" in shape and "line" not in shape]
    lines = [*map(surface, surfaces), *paths(painted), *texts(shape for shape in shapes if "text" in shape)]
    return HEAD % (*drawn["size"], *drawn["size"]) + "\n".join(lines) + "\n</svg>\n"


def make_recording(stackmap, folder):
    with open(os.path.join(folder, "work.py"), "w", encoding="ascii") as file:
        file.write(WORK)
    subprocess.run(["stackmap", "record", "-q", "-F", str(RATE), "--", "python3", "work.py"], executable=stackmap,
                   cwd=folder, check=True)
    return "stackmap.data"


def hide_machine(page):
    """Removes the names of this machine from the picture."""
    this = os.uname()
    about = page.text("#about").replace(" \u00b7 %s, Linux %s" % (this.nodename, this.release), "")
    page.value("document.querySelector('#about').textContent = %s" % json.dumps(about))


def draw(stackmap, recording):
    stackmap = os.path.realpath(stackmap)
    with tempfile.TemporaryDirectory(prefix="stackmap-picture-") as folder, browser.page() as page:
        path = os.path.realpath(recording) if recording else make_recording(stackmap, folder)
        subprocess.run([stackmap, "flamegraph", path], cwd=folder, check=True)
        page.resize(*SIZE)
        page.open(os.path.join(folder, "flamegraph.html"))
        hide_machine(page)
        return picture(page)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: draw_page.py STACKMAP PICTURE [RECORDING]")
    drawn = draw(sys.argv[1], sys.argv[3] if len(sys.argv) == 4 else None)
    with open(sys.argv[2], "w", encoding="utf-8") as file:
        file.write(drawn)


if __name__ == "__main__":
    main()
