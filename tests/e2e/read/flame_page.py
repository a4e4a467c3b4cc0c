# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Pages of `flamegraph`, drawn of recordings that write_flames has made, and what they show."""

import collections
import json
import re

from harness.cases import program, run, stackmap

SMALL = (300, 4000)  # functions, events
TWINS = ["twin (program)", "twin (script>.so)"]  # functions of one name, in two files
CHART = "#chart-canvas"


def write(name, seed=1, size=SMALL):
    run(program("write_flames"), seed, *size, name)
    return name


def draw(*recordings):
    stackmap("flamegraph", "-o", "page.html", *recordings)
    return "page.html"


def stacks_of(recording, event, *filters):
    stacks = json.loads(stackmap("report", "--json", "-e", event, *filters, recording).stdout)["stacks"]
    return [(row["user"], row["count"], row["value"]) for row in stacks]


def visible(name):
    """The form in which the page shows invisible characters."""
    return re.sub("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e]", "?", name)


def sums_of(stacks, weight=1):
    """function -> [self, total], and the sum of all."""
    sums = collections.defaultdict(lambda: [0, 0])
    for stack in stacks:
        for name in {visible(name) for name in stack[0]}:
            sums[name][1] += stack[weight]
        sums[visible(stack[0][0])][0] += stack[weight]
    return {name: pair for name, pair in sums.items() if pair[1]}, sum(stack[weight] for stack in stacks)


def table(page):
    """The table of functions: name -> [self, total]."""
    rows = page.value("[...document.querySelectorAll('#rows-of-functions tr')].map(row => "
                      "[row.lastChild.textContent, ...[...row.cells].slice(0, 2).map(cell => +cell.dataset.weight)])")
    return {name: weights for name, *weights in rows}


def check_table(page, stacks, weight=1):
    """It has the first 200 functions only: those must be right, and the hottest. Their sum."""
    expected, whole = sums_of(stacks, weight)
    shown = table(page)
    expect_twins(expected, shown)
    assert shown and all(expected[name] == weights for name, weights in shown.items())
    assert len(shown) == min(len(expected), 200), (len(shown), len(expected))
    hottest = sorted((pair[0] for pair in expected.values()), reverse=True)[:len(shown)]
    assert sorted((pair[0] for pair in shown.values()), reverse=True) == hottest
    return whole


def expect_twins(expected, shown):
    """Stacks of a report have names without files: the twins of a page together have the counts of the report's name."""
    twins = {name: shown[name] for name in TWINS if name in shown}
    both = expected.pop("twin", None)
    if len(twins) == 2:
        assert sum(own for own, _ in twins.values()) == both[0]
        totals = [total for _, total in twins.values()]
        assert max(totals) <= both[1] <= sum(totals)
    expected.update(twins)


def check_sums(page, stacks, weight=1):
    assert check_table(page, stacks, weight) == status_weight(page)


def status(page):
    return page.text("#status").split(" \u00b7 ")


def status_weight(page):
    return page.value("+document.querySelector('#status').dataset.weight")


def colours(page):
    """How many colours the graph has."""
    return page.value("(canvas => new Set(new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, "
                      "canvas.height).data.buffer)).size)(document.querySelector('%s'))" % CHART)


def colour_of_row(page, row, across=0.97):
    """Of the frame there in the graph; rows from the bottom, where text is not."""
    return page.value("(canvas => [...canvas.getContext('2d').getImageData(canvas.width * %f, canvas.height - %d, 1, 1).data])"
                      "(document.querySelector('%s'))" % (across, 18 * row + 9, CHART))[:3]


def choose_source(page, name):
    options = page.value("[...document.querySelector('#source').options].map(({value, text}) => [value, text])")
    page.choose("#source", next(value for value, text in options if text.startswith(name)))
