#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Views of the page of `flamegraph`, moved by mouse and keys in a browser: sums of each are those of `report --json`."""

import collections
import json
import os
import re
import sys
import urllib.parse
from xml.etree import ElementTree

from flame_page import (CHART, TWINS, check_sums, choose_source, colour_of_row, draw, stacks_of, status, status_weight, table,
                        visible, write)

from harness import browser, cases
from harness.cases import needs, needs_command, one_of_several, program, run, stackmap
from harness.recording import record

DATA = '<script type="application/json" id="data">'
SCREENSHOTS = os.environ.get("STACKMAP_SCREENSHOTS")  # a folder that keeps them
WINDOWS = [(1400, 900), (900, 700), (400, 800)]


def focus_chart(page, chart="#chart"):
    page.value("document.querySelector('%s').focus()" % chart)


def share(part, whole):
    return "%.2f%%" % (100 * part / whole)


def sandwich_of(page, name):
    """By one click in the table."""
    page.value("[...document.querySelectorAll('#rows-of-functions tr')].find(row => row.lastChild.textContent === %s)"
               ".querySelector('button').click()" % json.dumps(name))
    page.drawn()


def link(page):
    """The fragment of the address, when the page has written it."""
    page.value("new Promise(done => setTimeout(done, NOTE_MS + 50))")
    return page.value("location.hash.slice(1)")


def test_shares_of_a_zoomed_frame():
    stacks = [stack for stack in stacks_of(write("a.data"), "cpu-clock", "--comm", "worker")]
    whole = sum(count for _, count, _ in stacks_of("a.data", "cpu-clock"))
    with browser.page() as page:
        page.open(draw("a.data"))
        choose_source(page, "cpu-clock")
        focus_chart(page)
        page.press("ArrowUp")
        while "own:" not in page.text("#status"):
            page.press("Enter")
            zoomed = status_weight(page)
            page.press("ArrowUp")
        name, _, weight, part, own = status(page)
        count = status_weight(page)
        assert part == "%s of the zoomed frame" % share(count, zoomed), (part, count, zoomed)
        assert weight == "{:,} events, {}".format(count, share(count, whole)), weight
        depth = page.value("document.querySelector('#chart [role=treeitem][id=' + document.querySelector('#chart')"
                           ".getAttribute('aria-activedescendant') + ']').getAttribute('aria-level')")
        ends = sum(n for frames, n, _ in stacks if visible(frames[0]) == name and len(frames) == int(depth) - 2)
        assert 0 < int(own.split()[1].replace(",", "")) <= ends, (own, ends, depth)


def test_functions_of_one_name_in_two_files():
    rows = json.loads(stackmap("report", "--json", "-s", "dso,symbol", "-e", "cpu-clock", write("a.data")).stdout)["rows"]
    expected = {"twin (%s)" % row["dso"].rsplit("/", 1)[1]: [row["self"]["count"], row["children"]["count"]]
                for row in rows if row["symbol"] == "twin"}
    assert sorted(expected) == TWINS, expected
    with browser.page() as page:
        page.open(draw("a.data"))
        choose_source(page, "cpu-clock")
        page.type("#search", "twin")
        assert table(page) == expected
        page.type("#search", r"/^twin \(program\)$/")
        assert table(page) == {TWINS[0]: expected[TWINS[0]]}
        assert page.value("+document.querySelector('#share').dataset.weight") == expected[TWINS[0]][1]


def test_command_line_as_it_was_typed():
    with browser.page() as page:
        page.open(draw(write("a.data")))
        assert "sh -c '</script><b>'\ntrue?" in page.text("#about")


def callers_of(stacks, name):
    """Frames of each stack with the function, from its outermost occurrence outwards and inwards, and the events."""
    for frames, count, _ in stacks:
        if name in frames:
            at = len(frames) - 1 - frames[::-1].index(name)
            yield frames[at + 1:], frames[:at][::-1], count


def check_side(page, chart, key, name, expected):
    """From the function outwards or inwards: each step has the weight of the stacks that pass there. expected: (frames, events)."""
    whole, path = sum(count for _, count in expected), []
    focus_chart(page, chart)
    while True:
        before = status(page)
        page.press(key)
        if status(page) == before or status(page)[1] == "task":
            break
        path.append(status(page)[0].split(" (")[0])
        weight = sum(count for frames, count in expected if [visible(frame) for frame in frames[:len(path)]] == path)
        assert status_weight(page) == weight, (chart, path, weight, status(page))
        assert "%s of %s" % (share(weight, whole), name) in status(page), status(page)
    assert path or not any(frames for frames, _ in expected), (chart, name)


def test_sandwich_by_one_click():
    """Of the innermost function, of a function in the middle, and of a function that calls itself."""
    stacks = stacks_of(write("a.data"), "cpu-clock")
    with browser.page() as page:
        page.open(draw("a.data"))
        choose_source(page, "cpu-clock")
        for name in next(iter(table(page))), "function_538", "function_0":
            page.type("#search", "/^%s$/" % name)
            functions = table(page)
            sandwich_of(page, name)
            page.type("#search", "")
            expected = list(callers_of(stacks, name))
            whole = sum(count for _, _, count in expected)
            assert whole and status_weight(page) == whole == functions[name][1] and status(page)[0] == name, (name, whole, status(page))
            check_side(page, "#callers", "ArrowUp", name, [(outwards, count) for outwards, _, count in expected])
            check_side(page, "#chart", "ArrowDown", name, [(inwards, count) for _, inwards, count in expected])
        page.press("Escape")
        assert status(page)[0] == "all" and page.value("document.querySelector('#callers').hidden")


def test_sandwich_by_keys_and_of_two_recordings():
    with browser.page() as page:
        page.open(draw(write("before.data", 1), write("after.data", 2)))
        choose_source(page, "cpu-clock")
        focus_chart(page)
        for key in "ArrowUp", "ArrowUp", "s":
            page.press(key)
        name = status(page)[0]
        assert page.text("#sandwich-name") == name and status(page)[2].startswith("before: "), status(page)
        page.press("s")
        assert page.value("document.querySelector('#callers').hidden")


def state(page):
    return page.text("#status"), page.text("#range"), table(page), page.value(
        "[...document.querySelectorAll('select, #search')].map(element => element.value)"), page.value(
        "[...document.querySelectorAll('#bar button')].map(button => button.ariaPressed)")


def check_link(page, *words, path="page.html"):
    before, fragment = state(page), link(page)
    assert all(word in urllib.parse.unquote_plus(fragment) for word in words), (words, fragment)
    with browser.page() as other:
        other.open(path, fragment=fragment)
        assert state(other) == before, (fragment, state(other), before)
        other.value("location.hash = ''")
        other.drawn()
        assert status(other)[0] == "all" and not other.value("document.querySelector('#search').value")


def test_a_link_opens_the_same_view():
    draw(write("a.data"))
    with browser.page() as page:
        page.open("page.html")
        assert link(page) == ""
        choose_source(page, "off-cpu")
        page.choose("#measure", "count")
        page.choose("#cpu", "2")
        page.choose("#rows", "thread")
        page.type("#search", "function_60")
        page.press("Escape")
        page.drag(*(page.place("#timeline-canvas", across, 0.02) for across in (0.3, 0.4, 0.6)))
        page.press("v")
        page.press("o")
        focus_chart(page)
        page.press("ArrowUp")
        page.press("Enter")
        check_link(page, "event=off-cpu", "invert=1", "time=", "zoom=", "order=total", "timeline=thread")
        page.press("u")
        page.press("v")
        page.type("#search", "function_5")
        sandwich_of(page, next(iter(table(page))))
        check_link(page, "sandwich=function_5", "search=function_5")
        page.value("location.hash = 'zoom=1.nothing&event=none&cpu=77&time=9-3&sandwich=nothing&unknown=1'")
        page.drawn()
        assert status(page)[0] == "all" and not page.errors


def test_each_choice_alone_is_in_the_address():
    """The address is read after each key: no later choice writes it."""
    with browser.page() as page:
        page.open(draw(write("a.data")))
        choose_source(page, "cpu-clock")
        page.drag(*(page.place("#timeline-canvas", across, 0.5) for across in (0.3, 0.4, 0.6)))
        link(page)
        for key, words in ("z", "timezoom=1"), ("i", "icicle=1"), ("v", "invert=1"), ("r", "fold=1"), ("o", "order="), ("l", "timeline="):
            assert words not in link(page), (key, words)
            page.press(key)
            assert words in link(page), (key, words, link(page))


def test_copied_text():
    with browser.page() as page:
        page.open(draw(write("a.data")))
        choose_source(page, "cpu-clock")
        focus_chart(page)
        for key in "ArrowUp", "ArrowUp", "Enter", "y":
            page.press(key)
        text = page.copied()
        head, *_ = text.splitlines()
        assert head == "a.data" and "cpu-clock" in text and "of all" in text, text
        lines = re.findall(r"^ *([\d.]+%)  (.*)$", text, re.M)
        assert [name for _, name in lines][:2] == ["all", "worker"] and lines[0][0] == "100.00%", lines
        name = next(iter(table(page)))
        assert re.search(r"^ +[\d.]+%% +[\d.]+%%  %s$" % re.escape(name), text, re.M), text


def test_saved_pictures():
    with browser.page() as page:
        page.resize(1000, 500)
        page.open(draw(write("a.data")))
        choose_source(page, "cpu-clock")
        focus_chart(page)
        name, svg = page.saved(lambda: page.press("g"))
        assert name == "a.data.svg"
        root = ElementTree.fromstring(svg.decode())
        texts = [text.text for text in root.iterfind("{*}text")]
        assert {"a.data", "all", "worker"} <= set(texts) and "</script>\u2026" in texts, texts
        rows = {rect.get("y") for rect in root.iterfind("{*}rect")}
        assert len(rows) > 30, "rows that are scrolled away are there"
        assert float(root.get("height")) > page.box(CHART)["height"]
        name, png = page.saved(lambda: page.press("G"))
        assert name == "a.data.png" and png[:8] == b"\x89PNG\r\n\x1a\n"
        assert int.from_bytes(png[20:24], "big") == float(root.get("height"))


def folded(frames):
    """Outermost first: what repeats is there once."""
    kept = []
    for frame in frames[::-1]:
        kept.append(frame)
        for run in range(1, 9):
            if len(kept) >= 2 * run and kept[-run:] == kept[-2 * run:-run]:
                del kept[-run:]
                break
    return tuple(kept)


def paths(page):
    """Of the drawn frames that are widest: from the innermost frame that the keys reach outwards."""
    focus_chart(page)
    names = []
    while True:
        before = link_focus(page)
        page.press("ArrowUp")
        if link_focus(page) == before:
            return names
        names.append((status(page)[0], status_weight(page)))


def link_focus(page):
    return page.value("document.querySelector('#chart').getAttribute('aria-activedescendant')")


def test_recursion_folded_at_wish():
    stacks = stacks_of(write("a.data"), "cpu-clock", "--comm", "worker")
    with browser.page() as page:
        page.open(draw("a.data"))
        choose_source(page, "cpu-clock")
        before, functions = paths(page), table(page)
        page.press("r")
        check_sums(page, stacks_of("a.data", "cpu-clock")) if not before else None
        assert table(page) == functions, "sums of functions stay"
        page.press("Escape")
        after = paths(page)[1:]
        assert len(after) < len(before) - 5, (before, after)
        sums = collections.Counter()
        for frames, count, _ in stacks:
            names = folded([visible(frame) for frame in frames])
            for depth in range(1, len(names) + 1):
                sums[names[:depth]] += count
        names = [name.split(" (")[0] for name, _ in after]
        assert [weight for _, weight in after] == [sums[tuple(names[:depth + 1])] for depth in range(len(names))], after
        page.press("v")
        page.press("r")
        page.press("v")
        assert paths(page) == before


def test_frames_are_in_the_accessibility_tree():
    stacks = stacks_of(write("a.data"), "cpu-clock")
    whole = sum(count for _, count, _ in stacks)
    workers = sum(count for _, count, _ in stacks_of("a.data", "cpu-clock", "--comm", "worker"))
    with browser.page() as page:
        page.open(draw("a.data"))
        choose_source(page, "cpu-clock")
        found = page.accessible()
        assert ("treeitem", "worker, %s" % share(workers, whole)) in found, found[:50]
        assert sum(role == "treeitem" for role, _ in found) > 20
        page.value("[...document.querySelectorAll('#chart [role=treeitem]')].find(item => item.textContent.startsWith('worker')).click()")
        page.drawn()
        assert status(page)[0] == "worker" and not page.value("document.querySelector('#unzoom').disabled")


def test_everything_has_a_key():
    with browser.page() as page:
        page.open(draw(write("before.data", 1), write("after.data", 2)))
        keys = set(" ".join(page.value("[...document.querySelectorAll('#key-list dt')].map(term => term.textContent)")).split())
        for key, id in (("e", "source"), ("w", "measure"), ("b", "base"), ("t", "thread"), ("p", "cpu"), ("c", "colour"), ("l", "rows")):
            before = page.value("document.querySelector('#%s').value" % id)
            page.press(key)
            changed = page.value("document.querySelector('#%s').value" % id) != before
            assert key in keys and changed != page.value("document.querySelector('#%s').disabled" % id), (key, id)
        for key, id in (("i", "flip"), ("v", "invert"), ("r", "fold")):
            page.press(key)
            assert key in keys and page.value("document.querySelector('#%s').ariaPressed" % id) == "true", key
        assert {"/", "s", "u", "a", "o", "y", "g", "G", "f", "?", "Escape"} <= keys, keys
        page.press("?")
        assert page.value("document.querySelector('#help').open")


# Elements whose text is wider or higher than they are, other than those that scroll, and names in the table, which have tips.
CUT = """[...document.querySelectorAll('body *')].filter(element => element.checkVisibility() &&
  !element.closest('tbody, .chart, #timeline-scroll, dialog') && element.childElementCount === 0 &&
  !['SELECT', 'OPTION', 'INPUT', 'SCRIPT'].includes(element.tagName) &&
  (element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline' ||
   element.getBoundingClientRect().right > innerWidth + 0.5 || element.getBoundingClientRect().left < -0.5))
  .map(element => element.outerHTML.slice(0, 100))"""


def painted_texts(page, act):
    """The texts that canvases are given meanwhile."""
    page.value("{ const {fillText} = CanvasRenderingContext2D.prototype; window.painted = [];"
               "CanvasRenderingContext2D.prototype.fillText = function(text, ...rest) { painted.push(text); fillText.call(this, text, ...rest); } }")
    act()
    return page.value("painted")


def test_axis_in_seconds():
    with browser.page() as page:
        page.resize(1200, 800)
        page.open(draw(write("a.data")))
        texts = painted_texts(page, lambda: page.choose("#rows", "cpu"))
        ticks = [text for text in texts if re.fullmatch(r"[\d.]+ s", text)]
        assert ticks[:8] == ["%.1f s" % (number * 0.5) for number in range(8)] and page.text("#range").startswith("whole: 4.0"), (ticks, page.text("#range"))


def data_of(path):
    with open(path, encoding="ascii") as file:
        before, rest = file.read().split(DATA)
    data, after = rest.split("</script>", 1)
    return before + DATA, json.loads(data), "</script>" + after


def write_data(path, before, data, after):
    with open(path, "w", encoding="ascii") as file:
        file.write(before + json.dumps(data).replace("<", "\\u003c") + after)


def test_idle_cpus_and_threads_are_a_switch():
    """A task without a number is that of an idle CPU."""
    draw(write("a.data"))
    before, data, after = data_of("page.html")
    cells = data["cells"][0]
    idle = next(number for number, thread in enumerate(data["threads"]) if thread["tid"] == 103)
    data["threads"][idle].update(pid=0, tid=0, comm="swapper/1")
    part, whole = (sum(count for count, thread, source in zip(cells["count"], cells["thread"], cells["source"])
                       if data["sources"][source]["name"] == "cpu-clock" and thread in threads) for threads in ([idle], range(99)))
    write_data("idle.html", before, data, after)
    with browser.page() as page:
        page.open("idle.html")
        choose_source(page, "cpu-clock")
        assert page.text("#idle") == "Idle: %s hidden" % share(part, whole) and status_weight(page) == whole - part, page.text("#idle")
        page.choose("#rows", "thread")
        strips = page.box("#timeline-canvas")["height"]
        page.press("d")
        assert page.text("#idle") == "Idle: %s shown" % share(part, whole) and status_weight(page) == whole
        assert page.box("#timeline-canvas")["height"] > strips
        check_link(page, "idle=1", path="idle.html")
        page.open("page.html")
        assert page.value("document.querySelector('#idle').hidden")


WAIT_FOR_WORK = """
import select, threading, time
lock = threading.Lock()
lock.acquire()
def want():
    with lock: pass
thread = threading.Thread(target=want)
thread.start()
select.select([], [], [], 1)
lock.release()
thread.join()
"""


@one_of_several
def test_idle_time_is_that_of_report():
    needs("typed tracepoints")
    with open("work.py", "w", encoding="ascii") as file:
        file.write(WAIT_FOR_WORK)
    recording = record("--time", "--", sys.executable, "work.py")
    recording.check()
    report = json.loads(recording.read("report", "--thread-time", "--json"))
    idle, blocked = report["time"]["idle"], report["time"]["interruptible"]
    assert 0.99e9 < idle < blocked - 0.1e9, report["time"]  # the other thread begins to wait before long
    draw(recording.path)
    with browser.page() as page:
        page.open("page.html")
        choose_source(page, "time:interruptible")
        assert page.value("+document.querySelector('#idle').dataset.weight") == idle and status_weight(page) == blocked - idle
        page.press("d")
        assert status_weight(page) == blocked
    for functions in (["no_function"], ["no_function", "futex_*"]):
        options = [word for name in functions for word in ("--idle", name)]
        chosen = json.loads(recording.read("report", "--thread-time", "--json", *options))["time"]["idle"]
        stackmap("flamegraph", "-o", "chosen.html", *options, recording.path)
        with browser.page() as page:
            page.open("chosen.html")
            choose_source(page, "time:interruptible")
            assert status_weight(page) == blocked - chosen and (chosen > 0) == (len(functions) > 1), (functions, chosen)


def test_a_deep_thin_stack_takes_no_room():
    """In a sandwich, callers of a hundredth of the events lie 400 frames deep: the callees stay in sight."""
    draw(write("a.data"))
    before, data, after = data_of("page.html")
    frame = data["frames"]["name"].index("function_541")
    others = [number for number, name in enumerate(data["frames"]["name"]) if name.startswith("function_")][:4]
    task = data["nodes"]["frame"][0]
    data["nodes"] = {"up": [0, 0] + [0] * 4 + [6] + [0] * 401, "frame": [task, frame] + others + [task] + others[:1] * 400 + [frame]}
    data["cells"] = [{"bucket": [0, 0], "stack": [6, 408], "source": [0, 0], "thread": [0, 0], "cpu": [0, 0], "count": [99, 1], "value": [0, 0]}]
    write_data("deep.html", before, data, after)
    with browser.page() as page:
        page.resize(1000, 700)
        page.open("deep.html")
        assert colour_of_row(page, 0) != colour_of_row(page, 1, 0.5), "the outermost rows are in sight"
        sandwich_of(page, "function_541")
        callers, callees = page.box("#callers"), page.box("#chart")
        assert callees["height"] >= 5 * 18 and callers["height"] >= 18, (callers, callees)


CALLS = """
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) void call(void)
{ syscall(SYS_getppid); __asm__ volatile(""); }
int main(void)
{
	for (int i = 0; i < 30; i++)
		call();
	for (int i = 0; i < 10; i++)
		call();
	return 0;
}
"""


@one_of_several
def test_source_lines_of_a_frame():
    """The lines of main are those of its two calls, with the parts of the 40 events that each has."""
    needs("bpf", "raw tracepoints")
    needs_command("gcc", "--version")
    with open("calls.c", "w", encoding="ascii") as file:
        file.write(CALLS)
    run("gcc", "-O1", "-g", "-Wl,--build-id", "-o", "calls", "calls.c")
    recording = record("-e", "syscalls:sys_enter_getppid", "--", "./calls")
    recording.check()
    first = os.path.join(os.getcwd(), "calls.c")
    short = first if len(first) <= 48 else "\u2026/" + "/".join(first.split("/")[-2:])
    lines = "%s:9 75.00%%, %s:11 25.00%%" % (short, short)
    with browser.page() as page:
        page.open(draw(recording.path))
        assert focus_on(page, "main") and lines in status(page), status(page)
        page.press("ArrowUp")
        assert status(page)[0] == "call" and short + ":5" in status(page), status(page)
        sandwich_of(page, "main")
        assert status(page)[0] == "main" and lines in status(page), status(page)
        title = page.value("[...document.querySelectorAll('#rows-of-functions td:last-child')].find(cell => cell.textContent === 'main').title")
        assert title.split("\n")[2:] == lines.split(", "), title
        page.open(draw(recording.path, recording.path))
        assert focus_on(page, "main") and lines in status(page), status(page)
    stackmap("flamegraph", "--no-inline", "-o", "page.html", recording.path)
    assert data_of("page.html")[1]["lines"] == {"file": [], "frame": [], "path": [], "line": [], "count": []}


def record_a_lock():
    """A thread waits 100 ms for a lock that another thread holds, and that thread sleeps meanwhile."""
    needs("typed tracepoints")
    recording = record("--time", "--wakers", "--", program("waits"), "lock", 100)
    recording.check()
    draw(recording.path)
    return recording


@one_of_several
def test_states_add_up_to_the_account_of_time():
    recording = record_a_lock()
    rows = {row["tid"]: row for row in json.loads(recording.read("report", "--thread-time", "--json"))["rows"]}
    with browser.page() as page:
        page.open("page.html")
        threads = page.value("""(({states}) => states.bands(states.threads).map((bands, i) => ({tid: states.profile.threads[
            states.threads[i].numbers[0]].tid, life: states.threads[i].accounts.reduce((sum, {begin, end}) => sum + end - begin, 0),
            ...Object.fromEntries(STATES.map(state => [state, bands[state].reduce((a, b) => a + b, 0) * 1e9]))})))(
            new Profile(JSON.parse(document.querySelector('#data').textContent)))""")
        assert len(threads) >= 3 and all(thread["tid"] in rows for thread in threads), (threads, rows)
        for thread in threads:
            row = rows[thread["tid"]]
            for state in "runnable", "uninterruptible", "stopped":
                assert abs(thread[state] - row[state]) < 10, (state, thread, row)
            assert abs(thread["interruptible"] + thread["idle"] - row["interruptible"]) < 10, (thread, row)
            assert abs(thread["life"] * 1e9 - row["life"]) < 3000, (thread, row)
            # the time line begins at the first event, and a loaded machine may have that event late
            assert -1e9 < thread["running"] - row["running"] < 3000, (thread, row)


def strips(page):
    return round(page.box("#timeline-canvas")["height"] / 15)


def texts_of(page, selector):
    return page.value("[...document.querySelectorAll('%s li')].map(item => item.textContent)" % selector)


@one_of_several
def test_a_wait_and_who_ended_it():
    record_a_lock()
    with browser.page() as page:
        page.open("page.html")
        assert page.value("document.querySelector('#rows').value") == "states"
        before = strips(page)
        page.press("h")
        page.type("#thread-filter", "waiter")
        assert 1 == strips(page) < before
        page.value("document.querySelector('#timeline-scroll').focus()")
        page.press("Enter")
        assert page.text("#wait-title").startswith("waiter ") and "asleep" in page.text("#wait-about"), page.text("#wait")
        assert "want_lock" in texts_of(page, "#wait-sleeper") and "hold_lock" in texts_of(page, "#wait-waker"), page.text("#wait")
        assert page.text("#wait-waker-title").startswith("woken by owner "), page.text("#wait")
        middle = page.value("(({x, width}) => x + 150 + (width - 150) / 2)(document.querySelector('#timeline-canvas').getBoundingClientRect())")
        y = page.box("#timeline-canvas")["y"] + 8
        page.press("Escape")
        assert page.value("document.querySelector('#wait').hidden")
        page.click((middle, y))
        assert "want_lock" in texts_of(page, "#wait-sleeper"), page.text("#wait")
        colours = page.value("[[...document.querySelector('#timeline-canvas').getContext('2d').getImageData(%d, 8, 1, 1).data],"
                             "getComputedStyle(document.querySelector('#state-legend .interruptible')).backgroundColor]" % middle)
        assert colours[1] == "rgb(%d, %d, %d)" % tuple(colours[0][:3]), colours
        page.press("x")
        assert page.text("#wait-title").startswith("owner "), page.text("#wait")
        page.type("#thread-filter", "")
        page.drag((middle - 100, y), (middle, y), (middle + 100, y))
        page.press("z")
        assert page.value("document.querySelector('#all-time').disabled") is False
        view = page.text("#range")
        check_link(page, "timezoom=1", "time=")
        page.value("document.activeElement.blur()")
        page.press("a")
        assert page.text("#range").startswith("whole: ") and not view.startswith("whole"), view


def focus_on(page, name):
    """Moves the focus inwards along the widest frames to this name. False: none of them has the name."""
    focus_chart(page)
    before = None
    while status(page)[0] != name and status(page) != before:
        before = status(page)
        page.press("ArrowUp")
    return status(page)[0] == name


def origins_of(rows, frame=""):
    """(comm, frames) -> events whose work has the frame on its stack, and was queued by a task."""
    found = collections.Counter()
    for row in rows:
        origin = row["queued_by"]
        if "interrupt" not in origin and (not frame or frame in map(visible, row["work"]["kernel"] + row["work"]["user"])):
            found[origin["comm"], tuple(visible(name) for name in origin["kernel"] + origin["user"])] += row["count"]
    assert found, (rows, frame)
    return found


def check_origins(page, rows, frame=""):
    """The panel has the origins of the report, eight at most, each with its events and its stack."""
    texts = page.value("[...document.querySelectorAll('#origins-list p')].map(p => p.textContent)")
    stacks = page.value("[...document.querySelectorAll('#origins-list ol')].map(list => [...list.children].map(item => item.textContent))")
    assert (" of " + frame in page.text("#origins-title")) == bool(frame), page.text("#origins-title")
    expected, found, is_cut = origins_of(rows, frame), collections.Counter(), texts[-1].endswith(" others")
    for text, (*names, comm) in zip(texts, stacks):
        if text.startswith("queued by interrupt:"):
            continue
        found[comm, tuple(names)] += int(re.fullmatch(r"queued by %s \d+: ([\d,]+) events?" % re.escape(comm), text).group(1).replace(",", ""))
    assert all(count <= expected[origin] for origin, count in found.items()) if is_cut else found == expected, (found, expected)


@one_of_several
def test_who_queued_the_work_of_a_frame():
    """In the graph, its sandwich, and turned inside out."""
    needs("bpf", "raw tracepoints")
    event, ours = "workqueue:workqueue_execute_start", ("--no-inline", "--comm", "kworker*")
    recording = record("-a", "--origins", "-e", event, "--", program("waits"), "work", 30)
    recording.check()
    stackmap("flamegraph", "-o", "page.html", *ours, recording.path)
    rows = json.loads(recording.read("report", "--origins", "--json", "--top", 0, "-e", event, *ours))["origins"]
    assert any("queue_work" in names for _, names in origins_of(rows)), rows
    with browser.page() as page:
        page.open("page.html")
        choose_source(page, event)
        for is_shown in False, True, False:
            assert page.value("document.querySelector('#origins').hidden") != is_shown
            if is_shown:
                check_origins(page, rows)
            page.press("q")
        assert focus_on(page, "process_one_work") and status(page)[-1].startswith("queued by "), status(page)
        page.press("s")
        check_origins(page, rows, "process_one_work")
        focus_chart(page, "#callers")
        page.press("ArrowUp")
        assert status(page)[0] != "process_one_work", status(page)
        check_origins(page, rows, status(page)[0])
        page.press("s")
        page.press("v")
        assert focus_on(page, "process_one_work"), status(page)
        check_origins(page, rows, "process_one_work")
        for scheme in "light", "dark":
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for size in WINDOWS:
                page.resize(*size)
                check_window(page, size, scheme, "origins")
        page.press("Escape")
        assert page.value("document.querySelector('#origins').hidden")


@one_of_several
def test_who_began_the_spans_of_a_frame():
    needs("bpf", "raw tracepoints", "uprobes")
    workload = program("known_counts")
    span = "span:u:%s:put_key..u:%s:take_key" % (workload, workload)
    recording = record("-e", span + "/by=arg1,stack=both/", "--", workload, "handed=6")
    recording.check(has_spare_stacks=True)
    begin, = {event.tid for event in recording.events() if event.name == "span:u:%s:put_key.." % workload}
    with browser.page() as page:
        page.open(draw(recording.path))
        choose_source(page, span)
        assert focus_on(page, "take_key") and status(page)[-1] == "begun by known_counts %d" % begin, status(page)
        assert page.text("#origins-title") == "Who began the spans of take_key", page.text("#origins-title")
        text, = page.value("[...document.querySelectorAll('#origins-list p')].map(p => p.textContent)")
        assert re.fullmatch(r"begun by known_counts %d: [\d.]+ ms" % begin, text), text
        assert texts_of(page, "#origins-list")[:2] == ["put_key", "hand_over"], texts_of(page, "#origins-list")


@one_of_several
def test_who_started_the_timer_that_ended_a_wait():
    """The wait of a thread ends by a timer that the thread has started itself."""
    needs("typed tracepoints")
    recording = record("--time", "--wakers", "--origins", "--", program("waits"), "timeout", 30)
    recording.check()
    with browser.page() as page:
        page.open(draw(recording.path))
        page.press("h")
        page.type("#thread-filter", "waits")
        page.value("document.querySelector('#timeline-scroll').focus()")
        page.press("Enter")
        for _ in range(60):
            if page.text("#wait-waker-origin-title"):
                break
            page.press("n")
        assert re.fullmatch(r"queued by waits \d+", page.text("#wait-waker-origin-title")), page.text("#wait")
        assert "wait_in_vain" in texts_of(page, "#wait-waker-origin") and "wait_in_vain" in texts_of(page, "#wait-sleeper"), page.text("#wait")
        assert page.text("#wait-waker-title").startswith("woken by interrupt"), page.text("#wait")
        page.press("Escape")
        assert page.value("document.querySelector('#wait').hidden")


@one_of_several
def test_nothing_of_the_states_is_cut():
    record_a_lock()
    for scheme in "light", "dark":
        for size in WINDOWS:
            with browser.page() as page:
                page.resize(*size)
                page.open("page.html", scheme=scheme)
                page.value("document.querySelector('#timeline-scroll').focus()")
                page.press("Enter")
                check_window(page, size, scheme, "states")


def test_cells_of_a_heat_map_select_time():
    """4 s in columns of 0.2 s; a cell is a bucket."""
    recording = write("a.data")
    with browser.page() as page:
        page.resize(1200, 800)
        page.open(draw(recording))
        choose_source(page, "cpu-clock")
        page.choose("#rows", "heat")
        columns, rows, bucket = page.value("(({columns, rows, timeline}) => [columns, rows, timeline.bucketSeconds])("
                                           "new HeatMap({buckets: %s, bucketSeconds: %s, width: 1200, left: 0}, []))" % tuple(page.value(
                                               "(({buckets, bucketSeconds}) => [buckets, bucketSeconds])(new Profile(JSON.parse("
                                               "document.querySelector('#data').textContent)))")))
        assert columns == 21 and rows == 24, (columns, rows, bucket)
        page.drag(*(page.place("#timeline-canvas", (column + 0.5) / columns, 0.01) for column in (5, 6, 7)))
        first = page.value("document.querySelector('#range').title").split()
        begin, end = (float(second) - 1001 for second in first[1].split(","))
        assert 0 <= begin - 5 * 0.2 < bucket and 0 <= end - 7 * 0.2 < 2 * bucket, (begin, end, bucket)
        check_sums(page, stacks_of(recording, "cpu-clock", *first))
        page.click(page.place("#timeline-canvas", 10.5 / columns, 0.5))
        one = page.value("document.querySelector('#range').title").split()
        begin, end = (float(second) - 1001 for second in one[1].split(","))
        assert abs(end - begin - bucket) < 1e-6 and abs(begin - 10.5 * 0.2) < 2 * bucket, (begin, end)
        check_sums(page, stacks_of(recording, "cpu-clock", *one))
        check_link(page, "timeline=heat", "time=")
        page.press("a")
        check_sums(page, stacks_of(recording, "cpu-clock"))
        for scheme in "light", "dark":
            page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
            for size in WINDOWS:
                page.resize(*size)
                check_window(page, size, scheme, "heat")


def check_window(page, size, scheme, view):
    page.resize(*size)
    page.drawn()
    name = "%dx%d %s %s" % (*size, scheme, view)
    png = page.screenshot()
    if SCREENSHOTS:
        with open(os.path.join(SCREENSHOTS, name.replace(" ", "-") + ".png"), "wb") as file:
            file.write(png)
    cut = page.value(CUT)
    assert not cut and page.value("document.documentElement.scrollWidth <= innerWidth"), (name, cut)
    assert len(png) > 10000, name
    if size[0] == 1400:
        tops = page.value("[...document.querySelectorAll('#bar select, #bar button')].filter(element => element.checkVisibility())"
                          ".map(element => element.getBoundingClientRect()).map(({top, height}) => top + height / 2)")
        assert max(tops) - min(tops) < 8, (name, "controls in one row", tops)


def test_nothing_is_cut():
    draw(write("a.data"))
    for scheme in "light", "dark":
        for size in WINDOWS:
            with browser.page() as page:
                page.resize(*size)
                page.open("page.html", scheme=scheme)
                choose_source(page, "cpu-clock")
                check_window(page, size, scheme, "flames")
                page.type("#search", "function_60")
                check_window(page, size, scheme, "search")
                page.press("Escape")
                choose_source(page, "off-cpu")
                page.value("document.querySelector('#histogram').click()")
                check_window(page, size, scheme, "values")
                page.value("document.querySelector('#values-close').click()")
                choose_source(page, "cpu-clock")
                sandwich_of(page, next(iter(table(page))))
                check_window(page, size, scheme, "sandwich")


cases.main(globals())
