#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Faults between an agent's spool and the store's tables: in the end every event is stored, or counted as lost with a
reason."""

import atexit
import contextlib
import functools
import json
import os
import re
import subprocess

from harness.cases import PROGRAMS, Skip, main, run, stackmap
from harness.clickhouse import USER, clickhouse, modern_clickhouse, password_file, url_of
from harness.store_proxy import Proxy

TIMEOUT_MS = 60000  # of requests
SHORT_MS = 3000  # where one is made to time out
STEPS = 60  # against what never happens: a sender that is never done
DAY = 86400


@functools.lru_cache(maxsize=None)
def servers():
    """Two servers that all cases share, each in a database of its own."""
    stack = contextlib.ExitStack()
    found = stack.enter_context(clickhouse(2))
    atexit.register(stack.close)
    return found


class Store:
    """A database of its own on the first server, and the ways to it."""

    def __init__(self, database, server=None):
        self.database, self.server = database, server or servers()[0]
        self.url = "%s/%s" % (self.server.url, database)
        store("init", self.url)

    def count(self, sql):
        return [int(number) for number in self.server.ask(sql, database=self.database)[0]]

    def balance(self):
        """produced, stored, lost, missing: as `store check` tells them."""
        text = store("check", self.url, status=None).stdout
        return tuple(map(int, re.search(r"(\d+) produced = (\d+) stored \+ (\d+) lost \+ (\d+) missing", text).groups()))


def store(action, url, *options, **more):
    return stackmap("store", action, url, "--user", USER, "--password-file", password_file(), *options, **more)


class Agent:
    """The program send_batches: a spool and its sender."""

    def __init__(self, url, host="web1", bytes_most=1 << 30, password=None, spool="spool", timeout_ms=TIMEOUT_MS):
        command = [os.path.join(PROGRAMS, "send_batches"), url, spool, str(bytes_most), host, password or password_file(),
                   str(timeout_ms)]
        self.log = open("said", "a+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hear(self):
        return self.process.stdout.readline().split(None, 2)

    def ask(self, line):
        self.tell(line)
        return self.hear()

    def put(self, batches, rows=50):
        """Events produced, and recorded."""
        _, _, both = self.ask("put %d %d" % (batches, rows))
        return tuple(map(int, both.split()))

    def step(self):
        """The state of the sender after a step."""
        return self.ask("step")[0]

    def drain(self):
        standing, waiting, *error = self.ask("drain %d" % STEPS)
        assert (standing, waiting) == ("idle", "0"), (standing, waiting, error, self.said())

    def state(self):
        self.tell("state")
        names = ("batches", "rows", "lost", "doubts", "repeats", "skew", "damaged", "bytes", "dropped", "refused")
        return dict(zip(names, map(int, self.process.stdout.readline().split())))

    def said(self):
        self.log.seek(0)
        return self.log.read()

    def kill(self):
        self.process.kill()
        self.process.wait()


def balances(shop, produced, recorded):
    """All that was recorded is stored, and the rest has the name that it had on its host."""
    assert shop.balance() == (produced, recorded, produced - recorded, 0), (shop.balance(), produced, recorded)


@contextlib.contextmanager
def behind_proxy(shop):
    proxy = Proxy(shop.server.port)
    try:
        yield proxy, "http://127.0.0.1:%d/%s" % (proxy.port, shop.database)
    finally:
        proxy.close()


def time_out(agent, proxy):
    """An insert of events that arrives by half and is not answered. On a busy machine other requests may time out before."""
    proxy.plan("hold")
    while not proxy.held.is_set():
        assert agent.step() == "away"


def test_server_away_and_back():
    shop = Store("away")
    with Agent(shop.url) as agent:
        shop.server.stop()
        produced, recorded = agent.put(3)
        assert agent.step() == "away"
        shop.server.start()
        agent.drain()
        assert agent.state()["batches"] == 3
        assert "sending goes on" in agent.said()
    balances(shop, produced, recorded)


def test_server_killed_while_inserting():
    shop = Store("killed")
    with behind_proxy(shop) as (proxy, url), Agent(url) as agent:
        produced, recorded = agent.put(2, 2000)
        proxy.plan("hold")
        agent.tell("step")
        proxy.held.wait()
        shop.server.stop()
        proxy.release()
        assert agent.hear()[0] == "away"
        shop.server.start()
        agent.drain()
    balances(shop, produced, recorded)


def test_body_cut_short():
    shop = Store("cut")
    with behind_proxy(shop) as (proxy, url), Agent(url) as agent:
        produced, recorded = agent.put(2, 2000)
        proxy.plan("cut")
        assert agent.step() == "away"
        agent.drain()
        assert agent.state()["doubts"] >= 1
    balances(shop, produced, recorded)


def test_answer_lost():
    shop = Store("lost")
    with behind_proxy(shop) as (proxy, url), Agent(url) as agent:
        produced, recorded = agent.put(2)
        proxy.plan("swallow")
        assert agent.step() == "away"
        agent.drain()
        assert agent.state()["doubts"] >= 2
    assert shop.count("SELECT sum(count) FROM events") == [recorded]
    balances(shop, produced, recorded)


def test_late_success():
    """The insert times out here and succeeds there, before it is asked for: it is not sent again."""
    shop = Store("late")
    with behind_proxy(shop) as (proxy, url), Agent(url, timeout_ms=SHORT_MS) as agent:
        produced, recorded = agent.put(1)
        time_out(agent, proxy)
        proxy.release()
        proxy.finished.wait()
        agent.drain()
    assert shop.count("SELECT sum(count) FROM events") == [recorded]
    balances(shop, produced, recorded)


def test_later_success():
    """It succeeds after it was asked for and sent again: there twice until the server merges, which is said."""
    shop = Store("later")
    with behind_proxy(shop) as (proxy, url), Agent(url, timeout_ms=SHORT_MS) as agent:
        produced, recorded = agent.put(1)
        shop.server.ask("SYSTEM STOP MERGES")
        time_out(agent, proxy)
        agent.drain()
        proxy.release()
        proxy.finished.wait()
    assert shop.count("SELECT sum(count) FROM events") == [2 * recorded]
    assert "there more than once" in store("check", shop.url).stdout
    balances(shop, produced, recorded)
    shop.server.ask("SYSTEM START MERGES")
    assert shop.count("SELECT sum(count) FROM events FINAL") == [recorded]


def test_disk_full_at_the_server():
    with small_disk("6m") as (disk, grow), clickhouse(1, data=disk) as (server,):
        shop = Store("full", server)
        with Agent(shop.url) as agent:
            produced = recorded = 0
            while agent.step() in ("idle", "sending"):
                more = agent.put(1, 4000)
                produced, recorded = produced + more[0], recorded + more[1]
            grow()
            agent.drain()
            said = agent.said()
        assert "space" in said or "full" in said, said
        balances(shop, produced, recorded)


@contextlib.contextmanager
def small_disk(size):
    """A small file system, and a function that makes it large."""
    os.mkdir("disk")
    if os.geteuid() or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", "disk"], check=False).returncode:
        raise Skip("a small file system cannot be mounted here")
    try:
        yield os.path.abspath("disk"), lambda: run("mount", "-o", "remount,size=200m", "disk")
    finally:
        run("umount", "-l", "disk")


def test_spool_full():
    shop = Store("spool_full")
    shop.server.stop()
    with Agent(shop.url, bytes_most=100000) as agent:
        produced, recorded = agent.put(12, 500)
        dropped = agent.state()["dropped"]
        shop.server.start()
        agent.drain()
        state = agent.state()
    assert 0 < dropped < 12 and state["lost"] == dropped and state["batches"] == 12 - dropped, state
    all_produced, stored, lost, missing = shop.balance()
    assert (all_produced, missing) == (produced, 0) and stored == recorded // 12 * (12 - dropped)
    assert "%d spool_full" % (recorded // 12 * dropped) in store("check", shop.url).stdout


def test_disk_full_under_the_spool():
    """The disk ends before the spool does: the oldest batches go all the same."""
    shop = Store("small_disk")
    with small_disk("256k") as (disk, _):
        with Agent(shop.url, spool=os.path.join(disk, "spool")) as agent:
            produced, recorded = agent.put(12, 500)
            dropped = agent.state()["dropped"]
            agent.drain()
    assert 0 < dropped < 12
    assert shop.balance() == (produced, recorded // 12 * (12 - dropped), produced - recorded // 12 * (12 - dropped), 0)


def test_spool_full_after_the_events_went():
    """The answer was lost and the batch was dropped for room: its stored events are not counted as lost."""
    shop = Store("spool_doubt")
    with behind_proxy(shop) as (proxy, url), Agent(url, bytes_most=40000) as agent:
        produced, recorded = agent.put(1, 500)
        proxy.plan("swallow")
        assert agent.step() == "away"
        shop.server.stop()
        more = agent.put(2, 500)
        assert agent.state()["dropped"] >= 1
        shop.server.start()
        agent.drain()
    all_produced, stored, lost, missing = shop.balance()
    assert (all_produced, missing) == (produced + more[0], 0) and stored >= recorded, (stored, recorded)
    assert shop.count("SELECT sum(count) FROM events") == [stored]


def test_wrong_password():
    shop = Store("password")
    with open("wrong", "w", encoding="ascii") as file:
        file.write("guess\n")
    with Agent(shop.url, password="wrong") as agent:
        produced, recorded = agent.put(2)
        assert [agent.step(), agent.step()] == ["refused", "refused"]
        said = agent.said()
    assert said.count("Code: 193") == 1 and "--password-file" in said, said
    with Agent(shop.url) as agent:
        agent.drain()
    balances(shop, produced, recorded)


def test_no_such_table():
    shop = Store("tables")
    with Agent(shop.url) as agent:
        produced, recorded = agent.put(2)
        shop.server.ask("DROP TABLE tables.events")
        assert agent.step() == "refused"
        assert "stackmap store init" in agent.said()
        store("init", shop.url)
        agent.drain()
    balances(shop, produced, recorded)


def test_newer_schema():
    shop = Store("newer")
    with Agent(shop.url) as agent:
        produced, recorded = agent.put(2)
        shop.server.ask("INSERT INTO newer.schema VALUES (99, now())")
        assert [agent.step(), agent.step()] == ["refused", "refused"]
        assert agent.said().count("schema version 99") == 1
        assert "newer stackmap" in store("init", shop.url, status=1).stderr
        shop.server.ask("DROP TABLE newer.schema")
        assert agent.step() == "refused"
        store("init", shop.url)
        agent.drain()
    balances(shop, produced, recorded)


def test_older_schema():
    shop = Store("older")
    shop.server.ask("DROP TABLE older.schema")
    shop.server.ask("CREATE TABLE older.schema (version UInt32, made DateTime('UTC')) ENGINE = MergeTree ORDER BY version")
    assert "store init migrates it" in store("check", shop.url, status=1).stderr
    store("init", shop.url)
    store("check", shop.url)
    assert shop.count("SELECT max(version) FROM schema") == [1]


def test_batch_refused():
    """By a proxy that finds it too large, each time. The others are stored, and what it held has a name."""
    shop = Store("refused")
    with behind_proxy(shop) as (proxy, url), Agent(url) as agent:
        produced, recorded = agent.put(3, 300)
        proxy.refused.add("first")
        agent.drain()
        state = agent.state()
        assert (state["batches"], state["refused"], state["lost"]) == (2, 1, 1), state
        assert "413" in agent.said() and "is set aside" in agent.said()
    assert len([name for name in os.listdir("spool") if name.endswith(".refused")]) == 1
    all_produced, stored, _, missing = shop.balance()
    assert (all_produced, stored, missing) == (produced, recorded // 3 * 2, 0)
    assert "%d refused" % (recorded // 3) in store("check", shop.url).stdout


def test_all_batches_refused():
    """That is the server's fault: they stay."""
    shop = Store("all_refused")
    with behind_proxy(shop) as (proxy, url), Agent(url) as agent:
        produced, recorded = agent.put(3)
        proxy.refused.add("all")
        assert [agent.step() for _ in range(12)] == ["refused"] * 12
        more = agent.put(1)
        assert [agent.step() for _ in range(12)] == ["refused"] * 12
        proxy.refused.clear()
        agent.drain()
        assert agent.state()["refused"] == 0
    balances(shop, produced + more[0], recorded + more[1])


def test_clock_off():
    shop = Store("clock")
    with behind_proxy(shop) as (proxy, url), Agent(url) as agent:
        proxy.skew = 3600
        agent.drain()
        agent.step()  # the second date says the same
        assert abs(agent.state()["skew"] - 3600) <= 2 and "windows are shifted" in agent.said()
        produced, recorded = agent.put(1)
        agent.drain()
    balances(shop, produced, recorded)


def test_one_wrong_date():
    shop = Store("date")
    with behind_proxy(shop) as (proxy, url), Agent(url) as agent:
        proxy.skews = [80000]
        agent.put(1)
        agent.drain()
        assert agent.state()["skew"] == 0 and "windows are shifted" not in agent.said()


def test_wrong_date_for_a_while():
    """Windows are of now again as soon as the date is, and none has the time of another."""
    shop = Store("while")
    with behind_proxy(shop) as (proxy, url), Agent(url) as agent:
        before = agent.put(1)
        agent.ask("shift %d" % (22 * 3600))
        ahead = agent.put(2)
        agent.ask("shift 0")
        after = agent.put(1)
        proxy.plan("swallow")
        assert agent.step() == "away"
        agent.drain()
    balances(shop, *(sum(each) for each in zip(before, ahead, after)))
    times, now = shop.count("SELECT count(DISTINCT time), countIf(time < now()) FROM (SELECT DISTINCT time FROM events)")
    assert (times, now) == (12, 6), (times, now)


def test_clock_off_by_two_days():
    shop = Store("calendar")
    with behind_proxy(shop) as (proxy, url), Agent(url) as agent:
        proxy.skew = 2 * DAY
        produced, recorded = agent.put(1)
        assert [agent.step(), agent.step()] == ["clock", "clock"]
        assert agent.said().count("more than a day") == 1
        assert shop.count("SELECT count() FROM events") == [0]
        proxy.skew = 0
        agent.drain()
        balances(shop, produced, recorded)
        agent.ask("shift %d" % (2 * DAY))
        more = agent.put(1)
        agent.drain()
        agent.ask("shift 0")
        last = agent.put(1)
        agent.drain()
    assert "%d clock" % more[1] in store("check", shop.url).stdout
    all_produced, stored, _, missing = shop.balance()
    assert (all_produced, stored, missing) == (produced + more[0] + last[0], recorded + last[1], 0)


def test_one_shard_of_two_away():
    pair = servers()
    url = url_of(pair, "pair")
    store("init", url, "--cluster", "fleet")
    hosts = ["web%d" % i for i in range(6)]
    sums = [0, 0]
    pair[1].stop()
    standings = set()
    for host in hosts:
        with Agent(url, host, spool=host) as agent:
            sums = [before + more for before, more in zip(sums, agent.put(1))]
            standings.add(agent.step())
    assert standings == {"sending", "away"} or standings == {"idle", "away"}, standings
    assert store("check", url, status=1).stderr.count("127.0.0.1:%d" % pair[1].port) == 1
    pair[1].start()
    for host in hosts:
        with Agent(url, host, spool=host) as agent:
            agent.drain()
    text = store("check", url).stdout
    assert "%d produced = %d stored + %d lost + 0 missing" % (sums[0], sums[1], sums[0] - sums[1]) in text, text
    assert pair[0].ask("SELECT sum(count) FROM pair.events_all") == [[str(sums[1])]]
    assert pair[0].ask("SELECT count() FROM pair.events") != [["0"]] != pair[1].ask("SELECT count() FROM pair.events")


def test_sender_killed():
    """With batches in its spool, and an insert on its way."""
    shop = Store("sender")
    with behind_proxy(shop) as (proxy, url):
        with Agent(url) as agent:
            produced, recorded = agent.put(3)
            proxy.plan("hold")
            agent.tell("step")
            proxy.held.wait()
            agent.kill()
            proxy.release()
            proxy.finished.wait()
        with Agent(url) as agent:
            more = agent.put(1)
            agent.drain()
            assert agent.state()["doubts"] == 3  # each that was there when it began
    assert shop.count("SELECT sum(count) FROM events") == [recorded + more[1]]
    balances(shop, produced + more[0], recorded + more[1])


def test_missing_events():
    """The check names the hosts and windows with missing events. Control characters in host names are escaped."""
    shop = Store("missing")
    shop.server.ask("INSERT INTO missing.ledger SELECT toDateTime(intDiv(toUInt32(now()), 3600) * 3600 - 1800 + number * 10), "
                    "'od\\x1bd', 'boot', 1, 10, 7, 7, [], [], 0, 0 FROM system.numbers LIMIT 3")
    shown = store("check", shop.url, status=1).stdout
    assert "21 produced = 0 stored + 0 lost + 21 missing" in shown, shown
    assert re.search(r"  od\?d, windows from .*:30:00 to .*:30:20 UTC: 21 recorded, 0 stored", shown), shown


def test_errors_that_cancel():
    """One event too few in a window and one too many in another of the same host: its sum is right, its windows are not."""
    shop = Store("cancel")
    windows = "toDateTime(intDiv(toUInt32(now()), 3600) * 3600 - 1800 + number * 10) AS time, 'web1'"
    shop.server.ask("INSERT INTO cancel.ledger SELECT %s, 'boot', 1, 10, 7, 7, [], [], 0, 0 FROM system.numbers LIMIT 3" % windows)
    shop.server.ask("INSERT INTO cancel.events SELECT %s, 'shop', '', '', 'c', 'e', toFixedString('s', 16), 6 + number, 0 "
                    "FROM system.numbers LIMIT 3" % windows)
    assert shop.count("SELECT sum(count) FROM events") == [21]
    shown = store("check", shop.url, status=1).stdout
    assert "20 stored + 0 lost + 1 missing" in shown, shown
    assert re.search(r"from .*:30:00 .*: 7 recorded, 6 stored", shown) and re.search(r"from .*:30:20 .*: 7 recorded, 8 stored", shown), shown


def test_counts_without_sense():
    """Each event of an answer would be written, 2^32 at a time: a store cannot keep its readers busy for ever."""
    shop = Store("counts")
    shop.server.ask("INSERT INTO counts.events SELECT toDateTime(toUInt32(now()) - 600) AS time, toString(number), 'shop', '', '', 'c', 'e', "
                    "toFixedString('s', 16), 4294967295, 0 FROM system.numbers LIMIT 300000")
    said = stackmap("report", "--from", shop.url, "--user", USER, "--password-file", password_file(), status=1).stderr
    assert "more than 2^50 events" in said, said


def test_a_large_count_is_few_events():
    """A report writes one recorded event for 2^32 events of a stack, and adds them up again."""
    shop = Store("large")
    shop.server.ask("INSERT INTO large.events SELECT toDateTime(toUInt32(now()) - 600) AS time, toString(number), 'shop', '', '', 'c', 'e', "
                    "toFixedString('s', 16), 4294967295, 0 FROM system.numbers LIMIT 8192")
    shown = json.loads(stackmap("report", "--json", "--from", shop.url, "--user", USER, "--password-file", password_file()).stdout)
    assert sum(stack["count"] for stack in shown["stacks"]) == 8192 * 4294967295, shown


def test_retention():
    shop = Store("retained")
    with Agent(shop.url) as agent:
        agent.put(1)
        agent.ask("shift %d" % (-5 * DAY))
        agent.drain()
    with Agent(shop.url, spool="other") as agent:
        agent.ask("shift %d" % (-5 * DAY))
        agent.put(1)
        agent.drain()
    days, = shop.count("SELECT count(DISTINCT toDate(time)) FROM events")
    said = store("retain", shop.url, "--days", "2").stdout
    assert said.count("dropped") == 6, said
    assert shop.count("SELECT count(DISTINCT toDate(time)) FROM events") == [days - 1]
    assert "dropped" not in store("retain", shop.url, "--days", "2").stdout


def test_modern_server():
    """The same on a current ClickHouse, which also knows the tokens: identical bytes are stored once."""
    with modern_clickhouse() as server:
        shop = Store("modern", server)
        store("check", shop.url)
        with behind_proxy(shop) as (proxy, url), Agent(url, timeout_ms=SHORT_MS) as agent:
            produced, recorded = agent.put(2)
            time_out(agent, proxy)
            agent.drain()
            proxy.release()
            proxy.finished.wait()
        assert shop.count("SELECT sum(count) FROM events") == [recorded]
        balances(shop, produced, recorded)
        server.ask("INSERT INTO modern.schema VALUES (99, now())")
        assert "newer stackmap" in store("check", shop.url, status=1).stderr


main(globals())
