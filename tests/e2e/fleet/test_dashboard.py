#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The dashboard asks a store what it can answer: each query of it, as Grafana would send it, on an old server, a current one
and a cluster. Grafana itself is not run: the test checks that answers have the form that its panels need."""

import contextlib
import json
import os
import re
import time

from harness.cases import main, needs, program, run, stackmap
from harness.clickhouse import PASSWORD, USER, clickhouse, modern_clickhouse, password_file, url_of
from harness.recording import record

DASHBOARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "grafana", "stackmap.json")
NOW = int(time.time()) // 10 * 10 - 600
REPEATS = 3


def dashboard():
    with open(DASHBOARD) as file:
        return json.load(file)


def choices(suffix, event):
    return {"suffix": suffix, "event": event, "weight": "count", "service": ["web", "db's"], "version": ["1", "2"],
            "host": ["one", "two", "three"]}


def quoted(text):
    return "'%s'" % text.replace("'", "\\'")


def filled(sql, values):
    """Fills in a query as Grafana does: its macro of time, and variables with a format."""
    def variable(match):
        value = values[match[1]]
        if match[2] != "singlequote":
            return value
        return ",".join(map(quoted, [value] if isinstance(value, str) else value))

    sql = sql.replace("$__timeFilter(time)", "time >= toDateTime(%d) AND time <= toDateTime(%d)" % (NOW - 60, NOW + 600))
    sql = re.sub(r"\$\{(\w+)(?::(\w+))?\}", variable, sql)
    assert "$" not in sql, sql
    return sql


class Filled:
    """A store with a recording as two services of three machines."""

    def __init__(self, servers):
        needs("bpf", "uprobes")
        self.server, self.url, self.password = servers[0], url_of(servers), password_file()
        workload = program("call_paths")
        record("-e", "u:%s:leaf" % workload, "--", workload, 20, REPEATS, output="paths.data")
        self.stacks = json.loads(stackmap("report", "--json", "paths.data").stdout)["stacks"]
        self.event = self.stacks[0]["event"]
        for host, service, version in [("one", "web", "1"), ("two", "web", "2"), ("three", "db's", "1")]:
            run(program("store_recording"), self.url, USER, PASSWORD, host, service, version, NOW, 1, "paths.data")

    def rows(self, sql, suffix):
        return self.server.ask(filled(sql, choices(suffix, self.event)), database="stackmap")


def init(servers, *options):
    stackmap("store", "init", "--user", USER, "--password-file", password_file(), *options, url_of(servers))


def panels():
    return {panel["title"]: panel["targets"][0]["rawSql"] for panel in dashboard()["panels"]}


def check_flame(rows, stacks, hosts):
    """As Grafana's panel takes it: a tree in the order of a walk, where a frame is what ends in it and what it calls."""
    tree = [(int(level), label, int(value), int(own)) for level, label, value, own in rows]
    assert tree[0][:2] == (0, "all")
    assert tree[0][2] == hosts * sum(stack["count"] for stack in stacks)
    for i, (level, label, value, own) in enumerate(tree):
        below = []
        for next_level, _, next_value, _ in tree[i + 1:]:
            if next_level <= level:
                break
            if next_level == level + 1:
                below.append(next_value)
        assert value == own + sum(below), (label, value, own, below)
        assert i == 0 or level <= tree[i - 1][0] + 1
    names = {name for stack in stacks for name in stack["user"]}
    assert {"main", "leaf"} <= names & {label for _, label, _, _ in tree}, tree


def check_panels(store, suffix, hosts=3):
    events = sum(stack["count"] for stack in store.stacks)
    found = {title: store.rows(sql, suffix) for title, sql in panels().items()}
    check_flame(found["Where the events are"], store.stacks, hosts)
    functions = {name: (int(own), int(total)) for name, own, total in found["Functions"]}
    assert functions["main"] == (0, hosts * events) and functions["leaf"][1] == hosts * events
    assert sum(own for own, _ in functions.values()) == hosts * events
    assert sum(int(n) for _, _, n in found["Events by service"]) == hosts * events
    assert {(host, version): int(n) for host, version, n, _ in found["Hosts and versions"]} == {
        ("one", "1"): events, ("two", "2"): events, ("three", "1"): events}
    assert {host: (int(produced), int(recorded), int(lost)) for host, produced, recorded, lost, _ in found["Ledger by host"]} == {
        host: (events, events, 0) for host in ("one", "two", "three")}
    assert found["Lost, by cause"] == []
    assert [[int(cell) for cell in row] for row in found["Recorded and stored"]] == [[hosts * events, hosts * events, 0]]


def check_variables(store, suffix):
    queries = {variable["name"]: variable["query"] for variable in dashboard()["templating"]["list"] if variable["type"] == "query"}
    answers = {name: sorted(value for (value,) in store.rows(sql, suffix)) for name, sql in queries.items()}
    assert answers == {"event": [store.event], "service": ["db\\'s", "web"], "version": ["1", "2"], "host": ["one", "three", "two"]}


@contextlib.contextmanager
def current():
    with modern_clickhouse() as server:
        yield [server]


def test_one_server():
    with clickhouse(1) as servers:
        init(servers)
        store = Filled(servers)
        check_panels(store, "")
        check_variables(store, "")


def test_a_current_server():
    with current() as servers:
        init(servers)
        store = Filled(servers)
        check_panels(store, "")
        check_variables(store, "")


def test_a_cluster():
    """Machines on two shards, asked by tables over both."""
    with clickhouse(2) as servers:
        init(servers, "--cluster", "fleet")
        store = Filled(servers)
        stored = [int(server.ask("SELECT count() FROM events", database="stackmap")[0][0]) for server in servers]
        assert sum(stored) == 3 * len(store.stacks), stored
        check_panels(store, "_all")
        check_variables(store, "_all")


def test_what_grafana_needs():
    """The shape of the file: each panel has a place and its one query, and asks for no variable that is not there."""
    board = dashboard()
    names = {variable["name"] for variable in board["templating"]["list"]}
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"]) == 7
    for panel in board["panels"]:
        sql, = (target["rawSql"] for target in panel["targets"])
        assert set(re.findall(r"\$\{(\w+)", sql)) <= names and panel["gridPos"]["w"] <= 24
        assert panel["datasource"]["uid"] == "${source}"


if __name__ == "__main__":
    main(globals())
