#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The page of `flamegraph` in a browser: it shows the counts of `report --json` for each selection; each name stays inside
its text element; a hundred thousand functions are drawn at once."""

import json
import os
import re
from xml.etree import ElementTree

import draw_page
from flame_page import (CHART, TWINS, check_sums, check_table, choose_source, colour_of_row, colours, draw, stacks_of,
                        status, status_weight, sums_of, table, visible, write)
from harness import browser, cases
from harness.cases import program, run, stackmap
from harness.file_sums import NO_LOSS

LARGE = (100000, 200000)  # functions, events
DRAW_SECONDS = 2
FRAME_SECONDS = 1 / 30  # slower is seen as stutter
MOVES = 30


def test_counts_are_those_of_report():
    recording = write("a.data")
    with browser.page() as page:
        page.open(draw(recording))
        assert colours(page) > 10
        stacks = json.loads(stackmap("report", "--json", recording).stdout)["ledger"]["user_stacks"]
        cut = sum(stacks["stops"].values()) + sum(number for reason, number in stacks["reasons"].items() if reason not in NO_LOSS)
        known = stacks["complete"] + cut
        assert "%.2f%% of %s user stacks whole" % (100 * stacks["complete"] / known, format(known, ",")) in page.text("#about")
        for event, measure, weight in (("cpu-clock", "count", 1), ("off-cpu", "count", 1), ("off-cpu", "value", 2)):
            choose_source(page, event)
            page.choose("#measure", measure)
            check_sums(page, stacks_of(recording, event), weight)


def test_threads_and_cpus():
    recording = write("a.data")
    with browser.page() as page:
        page.open(draw(recording))
        choose_source(page, "cpu-clock")
        options = page.value("[...document.querySelector('#thread').options].map(({value, text}) => [text, value])")
        page.choose("#thread", dict(options)["worker 102"])
        check_sums(page, stacks_of(recording, "cpu-clock", "--tid", 102))
        page.choose("#thread", "pid:101")
        check_sums(page, stacks_of(recording, "cpu-clock", "--pid", 101))
        page.choose("#cpu", "2")
        check_sums(page, stacks_of(recording, "cpu-clock", "--pid", 101, "--cpu", 2))


def time_option(page):
    return page.value("document.querySelector('#range').title").split()


def test_range_of_time():
    recording = write("a.data")
    with browser.page() as page:
        page.open(draw(recording))
        choose_source(page, "cpu-clock")
        page.drag(*(page.place("#timeline-canvas", across, 0.5) for across in (0.2, 0.3, 0.4)))
        first = time_option(page)
        part = sum(count for _, count, _ in stacks_of(recording, "cpu-clock"))
        check_sums(page, stacks_of(recording, "cpu-clock", *first))
        assert 0.1 < status_weight(page) / part < 0.3
        page.value("document.querySelector('#timeline-scroll').focus()")
        page.press("ArrowRight")
        assert time_option(page) != first
        check_sums(page, stacks_of(recording, "cpu-clock", *time_option(page)))
        page.press("Escape")
        check_sums(page, stacks_of(recording, "cpu-clock"))


def test_a_wait_is_in_all_of_its_time():
    """The last event has waited for half of the recording: of each tenth in that half it has a tenth."""
    recording = write("a.data")
    last = max(stacks_of(recording, "off-cpu"), key=lambda stack: stack[2])
    with browser.page() as page:
        page.open(draw(recording))
        choose_source(page, "off-cpu")
        page.choose("#measure", "value")
        whole = status_weight(page)
        assert re.match(r"[0-9.]+ m?s, 100.00%$", status(page)[-1]), status(page)
        page.drag(*(page.place("#timeline-canvas", across, 0.5) for across in (0.6, 0.65, 0.7)))
        assert 0.15 < status_weight(page) / last[2] < 0.3, (status_weight(page), last)
        page.press("Escape")
        page.value("document.querySelector('#timeline-scroll').focus()")
        page.press("Escape")
        parts = 0
        for ends in (0.001, 0.3), (0.3, 0.8), (0.8, 0.999):
            page.drag(*(page.place("#timeline-canvas", across, 0.5) for across in (ends[0], sum(ends) / 2, ends[1])))
            parts += status_weight(page)
        assert 0.95 * whole < parts < 1.05 * whole, (parts, whole)


def test_strips_choose_threads():
    recording = write("a.data")
    with browser.page() as page:
        page.open(draw(recording))
        choose_source(page, "cpu-clock")
        page.choose("#rows", "cpu")
        page.click(page.place("#timeline-canvas", 0.5, 0.4))
        check_sums(page, stacks_of(recording, "cpu-clock", "--cpu", 1))
        page.choose("#rows", "thread")
        page.click(page.place("#timeline-canvas", 0.5, 0.01))
        chosen = page.value("document.querySelector('#thread').selectedOptions[0].text").split()[-1]
        check_sums(page, stacks_of(recording, "cpu-clock", "--cpu", 1, "--tid", chosen))


def test_strips_and_back_leave_the_graph_where_it_is():
    with browser.page() as page:
        page.resize(1200, 400)
        page.open(draw(write("a.data")))
        choose_source(page, "cpu-clock")
        before = [colour_of_row(page, row) for row in range(3)]
        page.choose("#rows", "thread")
        page.choose("#rows", "")
        page.drawn()
        assert [colour_of_row(page, row) for row in range(3)] == before


def test_zoom():
    recording = write("a.data")
    stacks = stacks_of(recording, "cpu-clock", "--comm", "worker")
    with browser.page() as page:
        page.open(draw(recording))
        choose_source(page, "cpu-clock")
        bottom = 1 - 27 / page.box(CHART)["height"]
        page.click(page.place(CHART, 0.9, bottom))
        assert status(page)[:2] == ["worker", "task"], status(page)
        assert status_weight(page) == sum(count for _, count, _ in stacks)
        page.press("ArrowUp")
        page.press("Enter")
        assert status(page)[0] == stacks[0][0][-1]
        assert status_weight(page) == sum(count for frames, count, _ in stacks if frames[-1] == status(page)[0])
        page.click(page.place(CHART, 0.1, bottom))
        assert status(page)[0] == "worker", "an ancestor fills the width"
        page.press("Escape")
        assert status(page)[0] == "all"
        assert page.value("document.querySelector('#unzoom').disabled")


def check_zoomed_table(page, stacks, whole):
    """The table shows the functions of the zoomed part, and its title says so."""
    zoomed = status(page)[0]
    weight = check_table(page, stacks)
    assert page.text("#functions-of") == "in %s, which is %.2f%% of all" % (zoomed, 100 * weight / whole)
    return zoomed


def test_zoom_and_functions():
    recording = write("a.data")
    everything = stacks_of(recording, "cpu-clock")
    stacks = stacks_of(recording, "cpu-clock", "--comm", "worker")
    whole = sum(count for _, count, _ in everything)
    with browser.page() as page:
        page.open(draw(recording))
        choose_source(page, "cpu-clock")
        check_table(page, everything)
        assert page.value("document.querySelector('#functions-of').hidden")
        page.click(page.place(CHART, 0.9, 1 - 27 / page.box(CHART)["height"]))
        assert check_zoomed_table(page, stacks, whole) == "worker"
        page.press("ArrowUp")
        page.press("Enter")
        outermost = status(page)[0]
        check_zoomed_table(page, [stack for stack in stacks if visible(stack[0][-1]) == outermost], whole)
        page.press("v")
        check_table(page, everything)
        page.value("document.querySelector('#chart').focus()")
        page.press("ArrowUp")
        page.press("Enter")
        innermost = status(page)[0]
        check_zoomed_table(page, [stack for stack in everything if visible(stack[0][0]) == innermost], whole)
        page.press("Escape")
        check_table(page, everything)
        assert page.value("document.querySelector('#functions-of').hidden")


def right_ends(page, selector):
    return page.value("[...document.querySelectorAll(%s)].map(element => element.getBoundingClientRect().right)" % json.dumps(selector))


def check_window(page, width):
    page.resize(width, 800)
    page.open("page.html")
    choose_source(page, "cpu-clock")
    assert page.value("document.documentElement.scrollWidth <= innerWidth"), width
    for colour in "kind", "object":
        page.choose("#colour", colour)
        assert max(right_ends(page, "#legend span, #bar *")) <= width, (width, colour)
    search, keys = page.box("#search"), page.box("#keys")
    assert search["y"] < keys["y"] + keys["height"] and keys["y"] < search["y"] + search["height"], (width, search, keys)
    assert search["width"] >= 60 and page.box("#rows-of-functions tr")["height"] > 10
    chart, footer = page.box("#chart"), page.box("footer")
    assert chart["height"] > 200 and chart["y"] + chart["height"] <= footer["y"] + 1, (width, chart, footer)
    assert colour_of_row(page, 0) != colour_of_row(page, 1), "the outermost rows are in sight"


def test_windows_of_every_width():
    """Whole words, and nothing beside the window."""
    draw(write("a.data"))
    with browser.page() as page:
        for width in 1400, 1000, 800, 400:
            check_window(page, width)
        assert page.value("[...document.querySelectorAll('#rows-of-functions td, #legend span, #status')]"
                          ".every(element => element.scrollWidth <= element.clientWidth + 1)"), "nothing is cut"
        page.type("#search", "function_60")
        assert max(right_ends(page, "#bar *")) <= 400 and page.box("#share")["width"] > 0
        page.press("Escape")
        scroll_to_the_end(page)


def test_small_window_shows_the_table_of_a_zoom():
    draw(write("a.data"))
    with browser.page() as page:
        page.resize(400, 800)
        page.open("page.html")
        choose_source(page, "cpu-clock")
        page.value("document.querySelector('#chart').focus()")
        for key in "ArrowUp", "ArrowUp", "Enter":
            page.press(key)
        row, footer = page.box("#rows-of-functions tr"), page.box("footer")
        assert page.text("#functions-of") and row["y"] + row["height"] <= footer["y"], (row, footer)


def scroll_to_the_end(page):
    """The table is below the graph, the page scrolls there, and what is said of a frame stays in sight."""
    page.value("document.querySelector('#more-functions').scrollIntoView()")
    page.drawn()
    functions, footer = page.box("table"), page.box("footer")
    assert functions["y"] < 0 < functions["y"] + functions["height"] and footer["y"] + footer["height"] <= 800, (functions, footer)


def test_colours():
    with browser.page() as page:
        page.open(draw(write("a.data")))
        choose_source(page, "cpu-clock")
        task, user = colour_of_row(page, 1), colour_of_row(page, 2)
        assert max(task) - min(task) < 40, "tasks are grey"
        assert user[0] - user[2] > 60, "user code is yellow"
        assert page.text("#legend") == "taskuserinlined"
        page.press("c")
        assert colour_of_row(page, 2) != user and page.text("#legend") == "script>.so"
        page.type("#search", "function_0")
        assert colour_of_row(page, 2) == [176, 25, 126], "what was found is marked"


def test_search():
    recording = write("a.data")
    stacks = stacks_of(recording, "cpu-clock")
    with browser.page() as page:
        page.open(draw(recording))
        choose_source(page, "cpu-clock")
        plain = colours(page)
        page.press("/")
        for query, pattern in (("FUNCTION_60", "function_60"), ("/_6.1$/", "_6.1$"),
                               ("operator[](", r"operator\[\]\(")):
            page.type("#search", query)
            matched = sum(count for frames, count, _ in stacks if any(re.search(pattern, name) for name in frames))
            assert matched and page.value("+document.querySelector('#share').dataset.weight") == matched
            assert all(re.search(pattern, name) for name in table(page))
        page.type("#search", "/[/")
        assert not table(page)
        page.press("Escape")
        assert colours(page) == plain
        check_sums(page, stacks)


def test_case_of_a_search():
    """Text is found whatever its case; an expression says so by itself."""
    with browser.page() as page:
        page.open(draw(write("a.data")))
        page.type("#search", "FUNCTION_60")
        found = table(page)
        assert found
        page.type("#search", "/FUNCTION_60/")
        assert not table(page)
        page.type("#search", "/FUNCTION_60/i")
        assert table(page) == found


def click_row(page, name):
    page.value("[...document.querySelectorAll('#rows-of-functions tr')].find(row => row.lastChild.textContent === %s)"
               ".click()" % json.dumps(name))
    page.drawn()


def test_row_searches_for_its_function_alone():
    recording = write("a.data")
    stacks = stacks_of(recording, "cpu-clock")
    with browser.page() as page:
        page.open(draw(recording))
        choose_source(page, "cpu-clock")
        everything = table(page)
        begins_others = next(name for name in everything if any(other.startswith(name) for other in everything if other != name))
        for name in (begins_others, "std::map<int, std::less<int> >::operator[](int&&)"):
            click_row(page, name)
            assert table(page) == {name: everything[name]}
            matched = sum(count for frames, count, _ in stacks if name in frames)
            assert page.value("+document.querySelector('#share').dataset.weight") == matched
            click_row(page, name)
            assert table(page) == everything


def test_inverted_and_icicle():
    recording = write("a.data")
    stacks = stacks_of(recording, "cpu-clock")
    expected, _ = sums_of(stacks)
    with browser.page() as page:
        page.open(draw(recording))
        choose_source(page, "cpu-clock")
        page.press("i")
        page.press("v")
        check_sums(page, stacks)
        page.value("document.querySelector('#chart').focus()")
        page.press("ArrowDown")
        name = status(page)[0]
        assert expected[name][0] == status_weight(page) == max(pair[0] for pair in expected.values())
        page.press("ArrowDown")
        caller = status(page)[0]
        assert status_weight(page) == sum(count for frames, count, _ in stacks if frames[:2] == [name, caller])
        page.press("Enter")
        assert not page.value("document.querySelector('#unzoom').disabled")


def test_hostile_names_stay_text():
    with browser.page() as page:
        page.open(draw(write("<title><b>.data")))
        assert page.value("document.querySelectorAll('img, b, h1 *, td :not(.sandwich), option *, header script').length") == 0
        assert page.value("document.scripts.length") == 2
        assert page.text("h1") == page.value("document.title") == "<title><b>.data"
        assert "'</script><b>'" in page.text("#about") and "<host>" in page.text("#about")
        options = page.value("[...document.querySelector('#thread').options].map(option => option.text)")
        assert "</script><b> 99" in options
        for name in ("</script><img", "<!--<script>", "&lt;b&gt;", "__proto__", "std::map<int, std::less<int> >"):
            page.type("#search", name)
            assert any(shown.startswith(name) for shown in table(page)), name
        page.type("#search", "line?break?[31m")
        assert len(table(page)) == 1


def test_no_other_script_runs():
    with browser.page() as page:
        page.open(draw(write("a.data")))
        page.value("document.body.append(Object.assign(document.createElement('script'), {text: 'document.title = 1'}))")
        page.value("document.body.insertAdjacentHTML('beforeend', '<img src=data:, onerror=\"document.title = 2\">')")
        page.drawn()
        assert page.text("title") == "a.data"
        assert page.errors and all("Content Security Policy" in error for error in page.errors), page.errors
        page.errors.clear()


def test_needs_nothing_else():
    with browser.page() as page:
        page.open(draw(write("a.data")))
        assert page.value("performance.getEntriesByType('resource').length") == 0
        with open("page.html", encoding="ascii") as file:
            assert not re.search(r"(src|href)\s*=\s*[\"']?(https?:)?//", file.read())


def test_dark_mode():
    def brightness():
        return sum(map(int, re.findall(r"\d+", page.value("getComputedStyle(document.body).backgroundColor"))))

    with browser.page() as page:
        page.open(draw(write("a.data")))
        light, light_user = brightness(), colour_of_row(page, 2)
        page.open("page.html", scheme="dark")
        assert brightness() < 200 < light
        assert sum(colour_of_row(page, 2)) < 0.6 * sum(light_user)


def changes(page):
    rows = page.value("[...document.querySelectorAll('#rows-of-functions tr')].map(row => "
                      "[row.lastChild.textContent, +row.cells[2].textContent])")
    return dict(rows)


def may_be_chance(before, whole_before, after, whole_after):
    shares = before / whole_before, after / whole_after
    return 0 < abs(shares[1] - shares[0]) <= 3 * sum(
        share * (1 - share) / whole for share, whole in zip(shares, (whole_before, whole_after))) ** 0.5


def test_changes_within_the_noise_have_no_colour():
    """Told for each function as the numbers of its events say."""
    before, after, grown = write("before.data", 1), write("after.data", 2), "grown.data"
    run(program("write_flames"), 1, 300, 40, grown)
    found = {}
    for name in after, grown:
        (old, old_whole), (new, new_whole) = (sums_of(stacks_of(path, "cpu-clock")) for path in (before, name))
        with browser.page() as page:
            page.open(draw(before, name))
            choose_source(page, "cpu-clock")
            page.value("document.querySelector('#sort-change').click()")
            told = dict(page.value("[...document.querySelectorAll('#rows-of-functions tr')].map(row => "
                                   "[row.lastChild.textContent, row.cells[2].title.includes(', within the noise')])"))
            for twin in TWINS:
                told.pop(twin, None)
            for function, is_noise in told.items():
                counts = old.get(function, [0, 0])[1], new.get(function, [0, 0])[1]
                assert is_noise == may_be_chance(counts[0], old_whole, counts[1], new_whole), (function, counts)
                found.setdefault(is_noise, []).append(function)
            page.choose("#colour", "change")
            assert "within the noise" in page.text("#legend"), page.text("#legend")
    assert found[True] and found[False], found


def test_a_recording_that_lost_events_is_not_faster():
    """A fifth of the events was lost. The page and the text multiply by 1.25 what is left."""
    whole, rest = write("whole.data"), "rest.data"
    run(program("write_flames"), 1, 300, 3200, rest, "/usr/bin", 6, 800)
    old, new = (sums_of(stacks_of(name, "cpu-clock"))[1] for name in (whole, rest))
    change = round(1.25 * new - old)
    with browser.page() as page:
        page.open(draw(whole, rest))
        choose_source(page, "cpu-clock")
        assert status(page)[3] == "change: {:+,} events ({:+.2f}%, with what was lost), 0.00 points of share".format(
            change, 100 * (1.25 * new - old) / old), (status(page), old, new)
        assert page.value("exactText(2 ** 53 + 2, '')") == "\u22489,007,199,254,740,994 events"
        assert page.value("exactText(2 ** 53 - 1, '')") == "9,007,199,254,740,991 events"
    rows = json.loads(stackmap("diff", "--json", "-s", "event", "-e", "cpu-clock", whole, rest).stdout)["rows"]
    assert [rows[0][side][key] for side in ("before", "after") for key in ("count", "amount")] == [old, old, new, 1.25 * new], rows
    text = stackmap("diff", whole, rest).stdout
    assert ", 800 of 4000 lost: amounts are scaled to all\n" in text, text


def test_two_recordings():
    before, after = write("before.data", 1), write("after.data", 2)
    (old, old_whole), (new, new_whole) = (sums_of(stacks_of(name, "cpu-clock")) for name in (before, after))
    with browser.page() as page:
        page.open(draw(before, after))
        choose_source(page, "cpu-clock")
        page.value("document.querySelector('#sort-change').click()")
        shown = changes(page)
        assert len(shown) == 200
        for name in TWINS:
            shown.pop(name, None)
        for name, points in shown.items():
            change = new.get(name, [0, 0])[1] / new_whole - old.get(name, [0, 0])[1] / old_whole
            assert abs(points - 100 * change) < 0.006, (name, points, change)
        assert list(map(abs, shown.values())) == sorted(map(abs, shown.values()), reverse=True)
        assert status(page)[1].startswith("before: {:,} events".format(old_whole)), status(page)
        assert status(page)[2].startswith("after: {:,} events".format(new_whole))
        change = new_whole - old_whole
        assert status(page)[3] == "change: {:+,} events ({:+.2f}%), 0.00 points of share".format(
            change, 100 * change / old_whole), status(page)
        page.choose("#base", "0")
        page.value("document.querySelector('#sort-self').click()")
        assert all(old[name] == weights for name, weights in table(page).items() if weights[1] and name not in TWINS)


def test_hundred_thousand_functions():
    page_file = draw(write("large.data", 1, LARGE))
    with browser.page() as page:
        page.open(page_file)
        choose_source(page, "cpu-clock")
        drawn = page.cpu_seconds()
        assert drawn < DRAW_SECONDS, "%.1f s" % drawn
        assert "functions" in page.text("#more-functions") and status_weight(page) > LARGE[1] / 3
        assert int(page.value("document.querySelector('#data').textContent.match(/function_\\d+/g).length")) > 90000
        for move in range(MOVES):
            page.mouse("mouseMoved", page.place(CHART, move / MOVES, 0.5))
        page.drawn()
        moved = (page.cpu_seconds() - drawn) / MOVES
        assert moved < FRAME_SECONDS, "%.3f s" % moved
        page.press("v")
        page.type("#search", "function_99")
        print("drawn after %.2f s of CPU, %.4f s a move, inverted and searched after %.2f s" % (
            drawn, moved, page.cpu_seconds()))


def test_many_threads():
    """More cells than a page has room for: CPUs and all but the hottest threads are joined, and sums stay exact."""
    run(program("write_flames"), 1, 5000, 400000, "many.data", "/usr/bin", 3000)
    page_file = draw("many.data")
    assert os.path.getsize(page_file) < 2e6, os.path.getsize(page_file)
    with browser.page() as page:
        page.open(page_file)
        choose_source(page, "cpu-clock")
        check_sums(page, stacks_of("many.data", "cpu-clock"))
        assert "CPUs are not told apart" in page.text("#about") and "joined by name" in page.text("#about")
        options = page.value("[...document.querySelector('#thread').options].map(({value, text}) => [text, value])")
        names = dict(options)
        assert "worker, other threads" in names and len(names) < 20, names
        page.choose("#thread", names["</script><b> 99"])
        check_sums(page, stacks_of("many.data", "cpu-clock", "--tid", 99))
        assert page.value("document.querySelectorAll('#cpu option').length") == 1


def test_picture_of_a_page():
    """That of the README: texts as they are, and rectangles in the colours of the canvas."""
    with browser.page() as page:
        page.open(draw(write("a.data")))
        choose_source(page, "cpu-clock")
        svg = ElementTree.fromstring(draw_page.picture(page).encode())
        functions = [name for name in table(page) if len(name) < 16][:10]
        task, user = ("#%02x%02x%02x" % tuple(colour_of_row(page, row)) for row in (1, 2))
        title, shown = page.text("h1"), page.text("#status")
    texts = [text.text for text in svg.iterfind(".//{*}text")]
    expected = {title, shown, "all", "worker", "</script>\u2026", "Icicle", "kind", *functions}
    assert functions and expected <= set(texts), expected - set(texts)
    fills = [path.get("fill") for path in svg.iterfind(".//{*}path")]
    assert task in fills and user in fills, (task, user, fills)


def test_no_events():
    stackmap("flamegraph", "-o", "page.html", "--pid", 1, write("a.data"))
    with browser.page() as page:
        page.open("page.html")
        assert status(page) == ["all", "0 events, 0.00%"] and not table(page)
        page.press("v")
        page.type("#search", "function")
        assert page.text("#share") == "0.00% matched"


def test_output_is_whole_or_not_there():
    write("a.data")
    done = stackmap("flamegraph", "a.data")
    assert "4000 events in flamegraph.html" in done.stderr and not done.stdout
    stackmap("flamegraph", "-o", "other.html", "missing.data", status=1)
    stackmap("flamegraph", "-o", "other.html", "a.data", "missing.data", status=1)
    stackmap("flamegraph", "-o", "none/other.html", "a.data", status=1)
    stackmap("flamegraph", "-o", "other.html", "-e", "nothing", "a.data", status=1)
    stackmap("flamegraph", "a.data", "a.data", "a.data", status=2)
    run("test", "!", "-e", "other.html")
    page = stackmap("flamegraph", "-o", "/dev/stdout", "--comm", "worker", "a.data").stdout
    assert page.startswith("<!DOCTYPE html>") and page.endswith("</html>\n")


cases.main(globals())
