#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Options of the reports, on recordings that are written for them (write_views.c): the options select exactly the events
that they describe."""

import csv
import io
import json
import re

from harness.cases import main, program, run, stackmap
from harness.inlined_program import build, record_calls

EVENTS = {"cpu-clock": 1000, "off-cpu": 3000}


def write(cpu_clock=EVENTS["cpu-clock"], off_cpu=EVENTS["off-cpu"], name="views.data"):
    run(program("write_views"), cpu_clock, off_cpu, name)
    return name


def report(*options, file="views.data"):
    return json.loads(stackmap("report", "--json", *options, file).stdout)


def table(*options):
    return list(csv.DictReader(io.StringIO(stackmap(*options).stdout)))


def nodes(node):
    yield node
    for child in node["children"]:
        yield from nodes(child)


def test_trees_as_json_have_all_events():
    write()
    for tree in report("--tree", "--by", "count")["trees"]:
        assert sum(node["self"] for node in nodes(tree["tree"])) == tree["tree"]["count"] == EVENTS[tree["event"]]
    for option, function in ("--callers", "rare"), ("--callees", "main"):
        assert all(sum(node["self"] for node in nodes(tree["tree"])) == tree["tree"]["count"]
                   for tree in report(option, function)["trees"])
    some = report("--tree", "--by", "count", "--min-percent", "1")["trees"][0]["tree"]
    assert "rare" not in {node["name"] for node in nodes(some)} and some["count"] == EVENTS["cpu-clock"]


def test_trees_say_that_branches_are_hidden():
    write()
    for option, percent in ([], "1"), (["--min-percent", "2.5"], "2.5"):
        text = stackmap("report", "--tree", *option, "views.data").stdout
        assert text.splitlines()[-1] == "# branches below %s%% not shown (--min-percent 0)" % percent, text[-200:]
        assert " rare\n" not in text
    whole = stackmap("report", "--tree", "--min-percent", "0", "views.data").stdout
    assert "not shown" not in whole and " rare\n" in whole


def test_inlined_functions_have_callers():
    build("inlined")
    made = record_calls("inlined")
    for function in "inner", "inner (inlined)", "inn*":
        tree = json.loads(made.read("report", "--json", "--callers", function))["trees"][0]["tree"]
        assert (tree["count"], [child["name"] for child in tree["children"]]) == (5, ["outer"]), (function, tree)


def test_top_is_of_each_source():
    write()
    for options in ["--top", "3"], ["--top", "3", "--children"]:
        rows = report("--sort", "symbol", *options)["rows"]
        assert [row["event"] for row in rows] == 3 * ["cpu-clock"] + 3 * ["off-cpu"], rows
        rows = table("report", "--csv", "--sort", "symbol", *options, "views.data")
        assert [row["event"] for row in rows] == 3 * ["cpu-clock"] + 3 * ["off-cpu"], rows
    assert len(report("--sort", "event,symbol", "--top", "3")["rows"]) == 3
    assert len(table("report", "--csv", "--sort", "event,symbol", "--top", "3", "views.data")) == 3


def test_deep_stacks_are_whole_and_apart():
    write()
    deep = {stack["user"][-1]: stack for stack in report()["stacks"] if len(stack["user"]) > 400}
    assert sorted(deep) == ["outer_a", "outer_b"]
    csv.field_size_limit(1 << 20)
    rows = [row["user"] for row in table("report", "--csv", "views.data") if len(row["user"]) > 1 << 16]
    assert sorted(rows) == sorted(2 * [";".join(deep[name]["user"]) for name in deep])
    write(name="other.data")
    rows = [row for row in table("diff", "--csv", "--stacks", "-e", "cpu-clock", "views.data", "other.data")
            if len(row["user"]) > 1 << 16]
    assert sorted((row["count_before"], row["count_after"], row["user"]) for row in rows) == [
        ("1", "1", ";".join(deep[name]["user"])) for name in sorted(deep)]


def test_diff_of_sources():
    write(1000, 1000, "before.data")
    write(1000, 3000, "after.data")
    rows = {row["event"]: row for row in table("diff", "--csv", "--sort", "event", "before.data", "after.data")}
    assert {name: float(row["delta"]) for name, row in rows.items()} == {"cpu-clock": -25, "off-cpu": 25}, rows
    for side, percent in ("before", (50, 50)), ("after", (25, 75)):
        shares = {row["event"]: row["self"]["percent"] for row in report("--sort", "event", file=side + ".data")["rows"]}
        assert (shares["cpu-clock"], shares["off-cpu"]) == percent
        assert {name: float(row[side]) for name, row in rows.items()} == shares
    text = stackmap("diff", "--sort", "event", "before.data", "after.data").stdout
    assert "no differences" not in text, text
    assert re.search(r"[+]25[.]00% +[0-9.]+%  off-cpu$", text, re.MULTILINE), text
    write(100, 0, "before.data")
    write(0, 100, "after.data")
    text = stackmap("diff", "--noise", "before.data", "after.data").stdout
    assert re.search(r"-6[.]00% +[0-9.]+%  cpu-clock  twin$", text, re.MULTILINE), text
    assert re.search(r"[+]6[.]00% +[0-9.]+%  off-cpu  twin$", text, re.MULTILINE), text


def test_nothing_is_chosen():
    """As with perf that is no failure, but it is said: which names there are, or that the options leave nothing."""
    write()
    for words in ["report"], ["report", "--json"], ["script"], ["export"], ["export", "-f", "pprof", "-o", "out"], \
            ["flamegraph", "-o", "out"]:
        said = stackmap(*words, "--comm", "alhpa", "views.data").stderr
        assert "--comm alhpa: no task of this name, did you mean alpha? There are alpha, beta, gamma, gamma-thread\n" in said, said
        said = stackmap(*words, "--time", "0,1", "views.data").stderr
        assert "views.data: the options choose none of its events\n" in said, (words, said)
        assert "choose none" not in stackmap(*words, "--comm", "alpha", "views.data").stderr
    said = stackmap("diff", "--comm", "nobody", "views.data", "views.data").stderr
    assert said.count("--comm nobody: no task of this name; there are alpha,") == 2, said
    assert not stackmap("export", "-f", "mappings", "--comm", "nobody", "views.data").stderr, "it is not about events"


def test_diff_says_what_of_it_changed():
    """One source is unchanged and the other one grew: only the share of the first one is smaller. Text, CSV and JSON agree."""
    write(1000, 1000, "before.data")
    write(1000, 3000, "after.data")
    options = ["--sort", "event", "--by", "count", "before.data", "after.data"]
    rows = {row["event"]: row for row in table("diff", "--csv", *options)}
    assert [rows["cpu-clock"][name] for name in ("amount_before", "amount_after", "change", "change_percent")] == [
        "1000", "1000", "0", "0.0000"] and float(rows["cpu-clock"]["delta"]) == -25, rows
    assert [float(rows["off-cpu"][name]) for name in ("change", "change_percent", "delta")] == [2000, 200, 25], rows
    check_agreement(rows, *options)
    text = stackmap("diff", *options).stdout
    assert re.search(r"^ +1000 +50.00% +1000 +25.00% +[+]0 +[+]0.00% +-25.00% +[0-9.]+%  cpu-clock$", text, re.MULTILINE), text


def test_diff_of_values_has_their_unit():
    for seed, name in (1, "before.data"), (2, "after.data"):
        run(program("write_flames"), seed, 300, 4000, name)
    text = stackmap("diff", "--noise", "--no-pager", "-e", "off-cpu", "before.data", "after.data").stdout
    rows = [line for line in text.splitlines() if line and not line.startswith("#")]
    amount = r"[+-]?[0-9.]+( [^ ]?s)?"
    assert rows and all(re.match(r" +%s +[0-9.]+%% +%s +[0-9.]+%% +%s " % (3 * (amount,)), row) for row in rows), rows[:3]
    assert sum(" ms" in row or " s " in row for row in rows) > len(rows) / 2, rows[:3]


def test_diff_per_second_and_per_event():
    write(1000, 1000, "before.data")
    write(1000, 3000, "after.data")
    options = ["--sort", "event", "--by", "count", "before.data", "after.data"]
    rows = {row["event"]: row for row in table("diff", "--csv", "--per", "off-cpu", *options)}
    assert [round(float(rows["cpu-clock"][name]), 6) for name in ("amount_before", "amount_after")] == [1, 0.333333], rows
    assert float(rows["off-cpu"]["change"]) == 0, rows
    assert list(rows) == ["cpu-clock", "off-cpu"], "the greatest change per event comes first"
    check_agreement(rows, "--per", "off-cpu", *options)
    alone = table("diff", "--csv", "--per", "off-cpu", "-e", "cpu-clock", *options)
    assert alone[0]["amount_after"] == rows["cpu-clock"]["amount_after"], "the unit counts whatever -e leaves out"
    rows = {row["event"]: row for row in table("diff", "--csv", "--per", "second", *options)}
    units = json.loads(stackmap("diff", "--json", "--per", "second", *options).stdout)["units"]
    for side in "before", "after":
        times = [float(time) for time in re.findall(r" ([0-9]+[.][0-9]+): ", stackmap("script", "--ids", side + ".data").stdout)]
        assert abs(units[side] - (max(times) - min(times))) < 1e-5, (units, max(times) - min(times))
        amount = float(rows["cpu-clock"]["amount_" + side])
        assert abs(amount * units[side] - 1000) < 1e-3, (amount, units)
    check_agreement(rows, "--per", "second", *options)
    done = stackmap("diff", "--per", "nothing", *options, status=1)
    assert done.stderr == "stackmap: --per nothing: before.data has none\n", done.stderr


def check_agreement(rows, *options):
    """Of --csv with --json and the text."""
    lines = stackmap("diff", "--noise", "--top", 0, "--min-percent", 0, *options).stdout.splitlines()
    for row in json.loads(stackmap("diff", "--json", *options).stdout)["rows"]:
        csv = rows[row["event"]]
        for name in "change", "change_percent", "delta":
            assert abs(row[name] - float(csv[name])) < 1e-3, (name, row, csv)
        for side in "before", "after":
            assert abs(row[side]["amount"] - float(csv["amount_" + side])) < 1e-3, (row, csv)
        line = next(line for line in lines if line.endswith("  " + row["event"]))
        assert "%+.2f%% %+7.2f%%" % (row["change_percent"], row["delta"]) in line, (line, row)


def events(*options):
    """(command, source, CPU) of each event, as `script` has them."""
    text = stackmap("script", "--ids", *options, "views.data").stdout
    return re.findall(r"^(\S+)-\d+ \[(\d+)\] [0-9.]+: (\S+): ", text, re.MULTILINE)


def exported(*options):
    return stackmap("export", "-f", "perf-script", *options, "views.data").stdout.count("\n\n")


def test_filters_add_up():
    """A list or an option that is repeated lets pass what any of its values does, in every command."""
    write(800, 800)
    whole = events()
    for options, passes in (
            (["--comm", "alpha", "--comm", "gam*"], lambda event: event[0] != "beta"),
            (["-e", "off-cpu", "-e", "cpu-*"], lambda event: True),
            (["-C", "0,2-3"], lambda event: event[1] != "001"),
            (["-C", "0", "-C", "2"], lambda event: event[1] in ("000", "002")),
            (["-p", "100,300"], lambda event: event[0] != "beta"),
            (["-p", "100", "-p", "300", "--tid", "301,200,100"], lambda event: event[0] in ("alpha", "gamma-thread")),
            (["--comm", "alpha", "--comm", "beta", "-C", "1,3"], lambda event: event[0] in ("alpha", "beta")
                                                                               and event[1] in ("001", "003"))):
        expected = [event for event in whole if passes(event)]
        assert 0 < len(expected) <= len(whole) and events(*options) == expected, options
        assert sum(stack["count"] for stack in report(*options)["stacks"]) == len(expected), options
        assert exported(*options) == len(expected), options
        rows = table("diff", "--csv", "--sort", "event", *options, "views.data", "views.data")
        assert sum(int(row["count_before"]) for row in rows) == len(expected), options
        stackmap("flamegraph", "-o", "page.html", *options, "views.data")
        with open("page.html", encoding="utf-8") as page:
            cells = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script', page.read(), re.DOTALL)[1])
        assert sum(cells["cells"][0]["count"]) == len(expected), options
    for wrong in ["-C", "0-"], ["-p", "1,x"], ["--tid", "99999999999"]:
        stackmap("report", *wrong, "views.data", status=2)
    assert "nothing: not in this recording" in stackmap("report", "-e", "off-cpu", "-e", "nothing", "views.data", status=1).stderr


def leaves(*options):
    return {(row["dso"], row["symbol"]): row["self"]["count"]
            for row in report("--sort", "dso,sym", "-e", "cpu-clock", *options)["rows"] if row["self"]["count"]}


def test_innermost_frames_are_chosen():
    """By their files and functions, whatever the view; and the short name of a key, as perf has them."""
    write()
    whole, second = leaves(), "/usr/lib/second.so"
    assert whole[second, "twin"] and whole["/usr/bin/first", "twin"]
    for options, passes in (
            (["--dsos", second], lambda dso, symbol: dso == second),
            (["-d", "second.so"], lambda dso, symbol: dso == second),
            (["-S", "twin,leaf_1*"], lambda dso, symbol: symbol == "twin" or symbol.startswith("leaf_1")),
            (["-S", "twin", "-S", "rare"], lambda dso, symbol: symbol in ("twin", "rare")),
            (["--symbols", "twin", "--dsos", "fir*"], lambda dso, symbol: (dso, symbol) == ("/usr/bin/first", "twin"))):
        expected = {key: count for key, count in whole.items() if passes(*key)}
        assert expected and leaves(*options) == expected, options
        assert sum(stack["count"] for stack in report("-e", "cpu-clock", *options)["stacks"]) == sum(expected.values())
        assert report("--tree", "-e", "cpu-clock", *options)["trees"][0]["tree"]["count"] == sum(expected.values())
    shown = stackmap("report", "-d", "secnd.so", "views.data", status=1).stderr
    assert "did you mean second.so?" in shown, shown
    assert [row["symbol"] for row in table("report", "--csv", "--fields", "sym,count", "-S", "rare", "-e", "off-cpu", "views.data")
            if row["count"] != "0"] == ["rare"]


def test_trees_name_the_files():
    """Functions of one name in two files can be distinguished."""
    write()
    tree = report("--tree", "-e", "cpu-clock")["trees"][0]["tree"]
    twins = {node["object"]: node["count"] for node in nodes(tree) if node["name"] == "twin"}
    assert tree["object"] is None and twins == {dso: count for (dso, name), count in leaves().items() if name == "twin"}
    assert len(twins) == 2


main(globals())
