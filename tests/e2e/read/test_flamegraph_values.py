#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The histograms of the page of `flamegraph`, in a browser: each number is that of `report --hist`."""

import json
import urllib.parse

from flame_page import choose_source, draw, status, status_weight, write

from harness import browser
from harness.cases import main, program, run, stackmap

EVENT = "off-cpu"  # with values; of write_flames
NUMBERS = ("sum", "min", "p50", "p90", "p99", "p99.9", "max")


def histogram_of(recording, scale, symbol=None):
    """The histogram of `report --hist` for all events, or for the events with a function anywhere on the stack."""
    keys = ("--sort", "symbol", "--children") if symbol else ("--sort", "event")
    found = json.loads(stackmap("report", "--json", "--hist", scale, *keys, "--top", 0, "-e", EVENT, recording).stdout)["histograms"]
    return next(one for one in found if not symbol or one["symbol"] == symbol)


def shown(page):
    """The numbers and the buckets of the panel."""
    assert not page.value("document.querySelector('#values').hidden")
    numbers = page.value("Object.fromEntries([...document.querySelectorAll('#values-about span')].map(({dataset}) => [dataset.name, +dataset.value]))")
    buckets = page.value("[...document.querySelectorAll('#values-bars li')].map(({dataset: {from, to, count}}) => [+from, +to, +count])")
    return numbers, buckets


def check(page, histogram):
    numbers, buckets = shown(page)
    assert page.text("#values-about").startswith("{:,} events".format(histogram["count"])), page.text("#values-about")
    assert {name: numbers[name] for name in NUMBERS} == {name: histogram[name] for name in NUMBERS}, (numbers, histogram)
    assert numbers["average"] == histogram["sum"] // histogram["count"], numbers
    assert buckets == [[bucket["from"], bucket["to"], bucket["count"]] for bucket in histogram["buckets"]], (buckets, histogram)


def open_values(page, recording):
    page.open(draw(recording))
    choose_source(page, EVENT)
    page.press("d")  # waits of idle threads count in a report
    page.press("m")


def scale_of(page, scale):
    page.choose("#values-scale", scale)


def test_values_of_everything_and_of_a_function():
    recording = write("a.data")
    with browser.page() as page:
        open_values(page, recording)
        assert page.text("#values-title") == "Values"
        name = page.value("document.querySelector('#rows-of-functions tr').lastChild.textContent")
        for scale in "log2", "lin":
            scale_of(page, scale)
            check(page, histogram_of(recording, scale))
        page.value("document.querySelector('#rows-of-functions tr .sandwich').click()")
        page.drawn()
        assert page.text("#values-title") == "Values of " + name, page.text("#values-title")
        for scale in "lin", "log2":
            scale_of(page, scale)
            check(page, histogram_of(recording, scale, name))


def test_values_of_the_frame_at_the_focus():
    """The values of a frame have the frame's number of events and its sum: in the graph, with folded recursion, and inverted."""
    with browser.page() as page:
        open_values(page, write("a.data"))
        for view in "", "r", "v":
            if view:
                page.press(view)
            for _ in range(4):
                page.value("document.querySelector('#chart').focus()")
                page.press("ArrowUp")
                page.choose("#measure", "value")
                total = status_weight(page)
                page.choose("#measure", "count")
                numbers, buckets = shown(page)
                assert numbers["sum"] == total and sum(count for _, _, count in buckets) == status_weight(page), (status(page), numbers)
            page.value("document.querySelector('#chart').focus()")
            page.press("Enter")
            page.press("u")


def test_button_keys_and_link():
    draw(write("a.data"))
    with browser.page() as page:
        page.open("page.html")
        choose_source(page, "cpu-clock")
        assert page.value("document.querySelector('#histogram').hidden"), "events without values have no button"
        choose_source(page, EVENT)
        page.value("document.querySelector('#histogram').click()")
        page.press("M")
        assert page.value("document.querySelector('#values-scale').value") == "lin"
        _, buckets = shown(page)
        page.value("new Promise(done => setTimeout(done, NOTE_MS + 50))")
        fragment = page.value("location.hash.slice(1)")
        assert "values=lin" in urllib.parse.unquote_plus(fragment), fragment
        with browser.page() as other:
            other.open("page.html", fragment=fragment)
            assert shown(other)[1] == buckets
        page.press("Escape")
        assert page.value("document.querySelector('#values').hidden")


def test_rounded_values_stay_in_their_buckets():
    """More different values than a page has room for: counts, sums and buckets of powers of two stay exact."""
    run(program("write_flames"), 1, 300, 100000, "many.data")
    with browser.page() as page:
        open_values(page, "many.data")
        exact = histogram_of("many.data", "log2")
        numbers, buckets = shown(page)
        assert "rounded down to 8 binary digits" in page.text("#values-about"), page.text("#values-about")
        assert buckets == [[bucket["from"], bucket["to"], bucket["count"]] for bucket in exact["buckets"]], (buckets, exact)
        assert numbers["sum"] == exact["sum"], (numbers, exact)
        for name in NUMBERS[1:]:
            assert exact[name] - exact[name] / 128 <= numbers[name] <= exact[name], (name, numbers, exact)


def test_a_comparison_has_none():
    with browser.page() as page:
        page.open(draw(write("before.data", 1), write("after.data", 2)))
        choose_source(page, EVENT)
        assert page.value("document.querySelector('#histogram').hidden")
        page.press("m")
        assert page.value("document.querySelector('#values').hidden")


if __name__ == "__main__":
    main(globals())
