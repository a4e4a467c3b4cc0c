#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The data of a page of two recordings, without a browser: the same bytes each time, and for each stack the counts of `diff
--json`, for recordings of any length."""

import collections
import json

from harness.cases import main, program, run, stackmap

# Functions and events of each of the two.
SIZES = [((300, 500), (300, 500)), ((3000, 20000), (300, 200)), ((300, 200), (3000, 20000)), ((100, 70000), (5000, 500)),
         ((2000, 7000), (2000, 70000)), ((300, 1), (300, 4000)), ((300, 0), (300, 50)), ((300, 50), (300, 0))]
DATA = '<script type="application/json" id="data">'


def write(name, size, seed=1, folder="/usr/bin"):
    run(program("write_flames"), seed, *size, name, folder)
    return name


def page_of(*recordings):
    stackmap("flamegraph", "-o", "page.html", *recordings)
    with open("page.html", encoding="ascii") as page:
        return page.read()


def data_of(page):
    return json.loads(page.split(DATA)[1].split("</script")[0])


def stacks_by_node(data):
    """The names of each node, the task's first, then outermost to innermost; number 0 is the root."""
    names, found, path = data["frames"]["name"], [()], []
    for up, frame in zip(data["nodes"]["up"], data["nodes"]["frame"]):
        path = path[:len(path) - up] + [names[frame]]
        found.append(tuple(path))
    return found


def page_sums(data):
    """(source, stack) -> [[count, value] before, after]"""
    stacks = stacks_by_node(data)
    sums = collections.defaultdict(lambda: [[0, 0], [0, 0]])
    for side, cells in enumerate(data["cells"]):
        for stack, source, count, value in zip(cells["stack"], cells["source"], cells["count"], cells["value"]):
            pair = sums[data["sources"][source]["name"], stacks[stack]][side]
            pair[0] += count
            pair[1] += value
    return dict(sums)


def diff_sums(*recordings):
    rows = json.loads(stackmap("diff", "--json", "--stacks", *recordings).stdout)["stacks"]
    return {(row["event"], (row["comm"] or "[unknown]", *reversed(row["kernel"] + row["user"]))):
            [[row[side]["count"], row[side]["value"]] for side in ("before", "after")] for row in rows}


def test_pages_are_equal_and_say_what_diff_says():
    for before, after in SIZES:
        recordings = write("before.data", before, seed=1), write("after.data", after, seed=2)
        page = page_of(*recordings)
        assert page == page_of(*recordings), "two pages of %s and %s differ" % (before, after)
        sums = page_sums(data_of(page))
        assert sums == diff_sums(*recordings), (before, after)
        assert [sum(pair[side][0] for pair in sums.values()) for side in (0, 1)] == [before[1], after[1]]


def test_amounts_are_scaled_by_source_as_diff_scales():
    """All 10 lost events are known to be of the first source, or may be of either."""
    for lossy in "two-lost-known", "two-lost":
        for name in "two", lossy:
            run(program("write_odd"), name, name + ".data")
        data = data_of(page_of("two.data", lossy + ".data"))
        rows = {row["event"]: row for row in json.loads(stackmap("diff", "--json", "-s", "comm", "--noise", "two.data", lossy + ".data").stdout)["rows"]}
        for number, source in enumerate(data["sources"]):
            for side, cells in zip(("before", "after"), enumerate(data["cells"])):
                scale = data["recordings"][cells[0]]["scales"][number]
                count = sum(count for count, of in zip(cells[1]["count"], cells[1]["source"]) if of == number)
                told = rows[source["name"]][side]
                assert count == told["count"] and abs(scale * count - told["amount"]) < 1e-9, (lossy, source, side, scale, told)
        scales = [recording["scales"] for recording in data["recordings"]]
        assert scales == [[1, 1], [1 + 10 / 30, 1] if lossy == "two-lost-known" else [1 + 10 / 35] * 2], scales


def test_one_program_in_two_folders():
    """Built again elsewhere, or unpacked beside the former: its frames are the same ones."""
    size = (300, 4000)
    before, after = write("before.data", size, folder="/opt/old"), write("after.data", size, folder="/opt/new")
    data = data_of(page_of(before, after))
    alone = data_of(page_of(before))
    assert len(data["nodes"]["frame"]) == len(alone["nodes"]["frame"])
    sums = page_sums(data)
    assert sums and all(pair[0] == pair[1] for pair in sums.values())
    assert "program" in data["objects"] and "/usr/lib/</script>.so" in data["objects"], data["objects"]
    assert "/opt/old/program" in alone["objects"], alone["objects"]
    for keys in ("symbol", "dso", "dso,symbol"):
        rows = json.loads(stackmap("diff", "--json", "-s", keys, before, after).stdout)["rows"]
        assert rows and all(row["delta"] == 0 for row in rows), (keys, rows)
    assert {row["dso"] for row in rows} == {"program", "script>.so"}, rows


if __name__ == "__main__":
    main(globals())
