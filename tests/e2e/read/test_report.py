#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Views of one recording agree with each other and with the workload; recordings are compared and merged; the pager."""

import csv
import io
import json
import os
import time

from harness.blocked import record_blocked
from harness.cases import STACKMAP, main, needs, on_terminal, program, run, stackmap
from harness.exportable import WRITE_SMALL
from harness.recording import Recording

WORKLOAD = program("known_counts")
SOURCE = ["-e", "u:%s:counted" % WORKLOAD]


def report(*options, file="f.data"):
    return json.loads(stackmap("report", "--json", *options, file).stdout)


def table(*options):
    return list(csv.DictReader(io.StringIO(stackmap(*options).stdout)))


def record_calls(calls, file="f.data"):
    stackmap("record", "-q", "-o", file, *SOURCE, "--", WORKLOAD, "calls=%d" % calls)
    return Recording(file).check()["recorded"]


def tree_self(node, name):
    return (node["self"] if node["name"] == name else 0) + sum(tree_self(child, name) for child in node["children"])


def test_views_agree():
    """Whatever the view, its numbers are those of the stacks, and they are the events."""
    needs("bpf", "uprobes")
    recorded = record_calls(500)
    assert recorded == 500
    stacks = report()["stacks"]
    assert sum(stack["count"] for stack in stacks) == recorded
    for keys in ("event", "pid", "comm", "tid", "cpu", "dso", "symbol", "pid,tid,cpu,comm,dso,symbol"):
        rows = report("--sort", keys)["rows"]
        assert sum(row["self"]["count"] for row in rows) == recorded, keys
        assert abs(sum(row["self"]["percent"] for row in rows) - 100) < 0.01, keys
    tree = report("--tree", "--min-percent", "0")["trees"][0]["tree"]
    assert tree["count"] == recorded
    for row in report("--sort", "symbol")["rows"]:
        name, children = row["symbol"], row["children"]["count"]
        having = [stack for stack in stacks if name in stack["kernel"] + stack["user"]
                  + ["[%s]" % stack[cut] for cut in ("kernel_cut", "user_cut") if cut in stack]]
        assert sum(stack["count"] for stack in having) == children, name
        assert tree_self(tree, name) == row["self"]["count"], name
        for view in ("--callers", "--callees"):
            assert report(view, name, "--min-percent", "0")["trees"][0]["tree"]["count"] == children, (view, name)


def test_known_function():
    """The probed function is innermost in all events, in its program, in its process."""
    needs("bpf", "uprobes")
    recorded = record_calls(100)
    rows = table("report", "--csv", "--fields", "dso,symbol,count,children_count,self", "f.data")
    assert rows[0] == {"dso": os.path.realpath(WORKLOAD), "symbol": "counted", "count": str(recorded),
                       "children_count": str(recorded), "self": "100.0000"}, rows[0]
    callers = report("--callers", "counted")["trees"][0]["tree"]
    assert callers["count"] == recorded and callers["children"][0]["name"] != "counted"
    pids = table("report", "--csv", "-s", "pid,comm", "f.data")
    assert [(row["comm"], row["count"]) for row in pids] == [(os.path.basename(WORKLOAD)[:15], str(recorded))], pids


def test_diff():
    """A function that only one of two runs has; and no differences of a recording to itself."""
    needs("bpf", "uprobes")
    record_calls(100, "a.data")
    stackmap("record", "-q", "-o", "b.data", "-e", "u:%s:main" % WORKLOAD, *SOURCE, "--", WORKLOAD, "calls=300")
    rows = table("diff", "--csv", "a.data", "b.data")
    assert rows[0]["symbol"] == "main" and float(rows[0]["delta"]) == 100, rows[0]
    counted = [row for row in rows if row["symbol"] == "counted" and row["event"].endswith("counted")][0]
    assert (float(counted["delta"]), counted["count_before"], counted["count_after"]) == (0, "100", "300"), counted
    for options in ([], ["--stacks"], ["-s", "dso,comm"]):
        assert "# no differences" in stackmap("diff", *options, "a.data", "a.data").stdout
        before = table("diff", "--csv", "--by", "count", *options, "a.data", "b.data")
        assert sum(int(row["count_before"]) for row in before) == 100
        assert sum(int(row["count_after"]) for row in before) == 301


def test_merge():
    """Two runs on this machine: the same code is the same stack, processes stay apart, ledgers add up."""
    needs("bpf", "uprobes")
    record_calls(100, "a.data")
    record_calls(200, "b.data")
    stackmap("merge", "-o", "all.data", "a.data", "b.data")
    merged = report(file="all.data")
    assert merged["ledger"]["produced"] == merged["ledger"]["recorded"] == 300
    assert sum(stack["count"] for stack in merged["stacks"]) == 300
    parts = report(file="a.data")["stacks"] + report(file="b.data")["stacks"]
    key = lambda stack: (stack["kernel"], stack["user"], stack["comm"])
    for stack in merged["stacks"]:
        assert stack["count"] == sum(part["count"] for part in parts if key(part) == key(stack)), stack
    rows = report("--sort", "pid", file="all.data")["rows"]
    assert sorted(row["self"]["count"] for row in rows) == [100, 200]


def test_json_has_the_start():
    """Each view says when the recording began, as the head of the report does and the JSON export."""
    run(WRITE_SMALL, "f.data")
    exported = json.loads(stackmap("export", "-f", "json", "f.data").stdout)["recording"]["start_ns"]
    date = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(exported // 10**9))
    assert exported > 10**18 and "# date:     %s\n" % date in stackmap("report", "f.data").stdout
    for view in [], ["-s", "symbol"], ["--tree"], ["--callers", "main"], ["--missing"]:
        assert report(*view)["start_ns"] == exported, view


def test_an_interrupt_has_no_number():
    """A timer ends the waits: the interrupt is the waker, and no thread of any process, in tables and on the page."""
    record_blocked("--wakers")
    wakers = [row for row in report("-s", "comm,pid,tid")["rows"] if row["comm"] == "interrupt"]
    assert wakers and all(row["pid"] is row["tid"] is None for row in wakers), wakers
    for row in table("report", "--csv", "-s", "comm,pid,tid", "f.data"):
        assert (row["comm"] == "interrupt") == (not row["pid"]) == (not row["tid"]), row
    shown = stackmap("report", "-s", "comm,pid,tid", "f.data").stdout
    assert any(line.split()[-3:] == ["interrupt", "-", "-"] for line in shown.splitlines()) and "4294967295" not in shown, shown
    stackmap("flamegraph", "-o", "page.html", "f.data")
    with open("page.html", encoding="utf-8") as page:
        text = page.read()
    assert '"pid":null,"tid":null,"comm":"interrupt"' in text and "4294967295" not in text
    for texts in (["script"], ["script", "--ids"], ["export", "-f", "perf-script"]):
        shown = stackmap(*texts, "f.data").stdout
        assert "interrupt" in shown and "4294967295" not in shown, (texts, shown)


def test_pager():
    needs("bpf", "uprobes")
    record_calls(10)
    command = [STACKMAP, "report", "f.data"]
    plain = stackmap("report", "f.data").stdout
    assert on_terminal(command, PAGER="sed s/^/through:/") == (0, "".join("through:%s\n" % line for line in plain.splitlines()))
    for direct in ("", "cat"):
        assert on_terminal(command, PAGER=direct) == (0, plain)
    assert on_terminal(command + ["--no-pager"], PAGER="false") == (0, plain)
    status, shown = on_terminal([STACKMAP, "report", "--json", "f.data"], PAGER="false")
    assert status == 0 and json.loads(shown)["ledger"]["recorded"] == 10
    assert on_terminal(command, PAGER="head -n 1") == (0, plain.splitlines()[0] + "\n")
    assert on_terminal(command, PAGER="true") == (0, "")


def test_lines_fit_their_terminal():
    """A name of 18 kB takes one line of a terminal, by COLUMNS or by the terminal's own size, also behind a pager; elsewhere it is whole."""
    name = "".join("name%05d" % number for number in range(2000))
    run(program("write_names"), name, "f.data")
    for options in [], ["-s", "symbol"], ["-s", "dso,symbol,cgroup"], ["--tree"], ["--callers", "name0*"]:
        command = [STACKMAP, "report", *options, "f.data"]
        whole = stackmap(*command[1:]).stdout
        rows = [line for line in whole.splitlines() if not line.startswith("#")]
        assert any(name in line for line in rows), whole[:200]
        for columns in 120, 200:
            for shown in (on_terminal(command, PAGER="", COLUMNS=str(columns)), on_terminal(command, PAGER="", size=columns),
                          on_terminal(command, PAGER="cat;", COLUMNS=str(columns))):
                lines = [line for line in shown[1].splitlines() if not line.startswith("#")]
                assert shown[0] == 0 and max(map(len, lines)) <= columns, (columns, options, max(map(len, lines)))
                assert len(lines) == len(rows) and any("..." in line and line.endswith("e01999") for line in lines), (options, lines)


def test_a_name_that_is_not_demangled():
    """The report gives the number of names that stay mangled, and the reason."""
    name = "_ZcvT_" + "IT_" * 150 + "v"
    run(program("write_names"), name, "f.data")
    said = stackmap("report", "-s", "symbol", "f.data")
    assert name in said.stdout, said.stdout
    assert "1 of the functions' names stay as the symbol tables have them; the first one: it takes too long to read" in said.stderr, said.stderr
    assert not stackmap("report", "--no-demangle", "f.data").stderr
    run(program("write_names"), "_Z1f" + "P" * 900 + "i", "f.data")
    assert not stackmap("report", "f.data").stderr


main(globals())
