#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`stackmap agent` with a ClickHouse of the test's own: the store has exactly the events of a program, also if processes are
killed meanwhile. The events are a program's own system calls, as many as it was told to make."""

import contextlib
import glob
import os
import pathlib
import re
import shutil
import signal

from harness.agent import GETPPID, Agent, assert_balances, await_rows, init_store, number
from harness.cases import STACKMAP, cgroup2, main, needs, needs_command, one_of_several, program, run, stackmap
from harness.clickhouse import clickhouse, url_of
from harness.recording import Recording
from harness.waiting import wait_until

CAP_SYS_ADMIN, CAP_BPF = 21, 39
CALLS = 400
NAME = "agent_calls"  # tests that run beside this one have other programs of this kind
OF_PROGRAM = "FROM stackmap.events WHERE event = '%s' AND comm = '%%s'" % GETPPID


@contextlib.contextmanager
def store():
    needs("bpf", "raw tracepoints")
    with clickhouse() as servers:
        init_store(servers)
        yield servers[0], url_of(servers)


def call(name=NAME, times=CALLS):
    run(program("known_counts", called=name), "getppid=%d" % times)


def calls_of(server, name=NAME):
    return number(server, "SELECT sum(count) " + OF_PROGRAM % name)


def assert_all_calls(server, agent, name=NAME):
    """The store has each call of the program. Else the message has the ledger, the events by task, and the words of the agent."""
    calls = calls_of(server, name)
    assert calls == CALLS, (calls, assert_balances(server), agent.said, server.ask(
        "SELECT time, comm, event, sum(count) FROM stackmap.events FINAL GROUP BY time, comm, event"))


def test_what_was_recorded_is_in_the_store():
    with store() as (server, url):
        agent = Agent(url, "-e", GETPPID, "--label", "rack=7", window=2, batch=4)
        call()
        agent.stop()
        assert_all_calls(server, agent)
        assert_balances(server)
        host, labels = server.ask("SELECT host, labels FROM stackmap.hosts")[0]
        assert host == "one" and "'rack=7'" in labels, (host, labels)


def test_memory_of_all_processes_is_told():
    """The memory is in the store as a label, and in the last line."""
    with store() as (server, url):
        agent = Agent(url, "-e", GETPPID)
        call()
        agent.stop()
        told = re.search(r"'memory_mib=(\d+)'", server.ask("SELECT labels FROM stackmap.hosts")[0][0])
        most = re.search(r"at most (\d+) MiB of memory in all processes", agent.said[-1])
        assert told and most and 0 < int(told[1]) <= int(most[1]), (told, agent.said)


@one_of_several
def test_each_stack_is_whole():
    """Its frames and their objects are there, and a frame has the name that `report` would show."""
    with store() as (server, url):
        agent = Agent(url, "-e", GETPPID)
        call()
        agent.stop()
        stacks = server.ask("SELECT DISTINCT hex(stack) " + OF_PROGRAM % NAME)
        assert len(stacks) == 1, stacks
        names = server.ask(
            "SELECT arrayJoin(functions) FROM stackmap.frames WHERE (object, offset) IN (SELECT o, toUInt64(f - 1) FROM ("
            "SELECT object, offset, kernel_depth, stack FROM stackmap.stacks WHERE stack IN (SELECT stack %s)) "
            "ARRAY JOIN object AS o, offset AS f)" % OF_PROGRAM % NAME)
        assert ["main"] in names, names
        innermost = server.ask(
            "SELECT arrayJoin(functions) FROM stackmap.frames WHERE (object, offset) IN (SELECT object[kernel_depth + 1], "
            "offset[kernel_depth + 1] FROM stackmap.stacks WHERE stack IN (SELECT stack %s))" % OF_PROGRAM % NAME)
        assert innermost == [["syscall"]], innermost
        missing = number(server, "SELECT count() FROM (SELECT arrayJoin(object) AS o FROM stackmap.stacks) "
                                 "WHERE o NOT IN (SELECT object FROM stackmap.objects)")
        unknown = number(server, "SELECT count() FROM stackmap.events WHERE stack NOT IN (SELECT stack FROM stackmap.stacks)")
        assert missing == unknown == 0, (missing, unknown)


def test_two_machines_have_one_hash():
    """Stacks of one program with one libc have the same hash at all load addresses."""
    with store() as (server, url):
        for host, name in ("one", "here"), ("two", "there"):
            agent = Agent(url, "-e", GETPPID, host=host)
            call(name)
            agent.stop()
        hashes = [server.ask("SELECT DISTINCT host, hex(stack) " + OF_PROGRAM % name) for name in ("here", "there")]
        assert [len(found) for found in hashes] == [1, 1], hashes
        assert hashes[0][0][0] == "one" and hashes[1][0][0] == "two" and hashes[0][0][1] == hashes[1][0][1], hashes
        assert_balances(server)


def test_an_agent_that_was_killed():
    """The next agent sends the spool of a killed one; no window has the time of another."""
    with store() as (server, url):
        server.stop()
        agent = Agent(url, "-e", GETPPID)
        call("before")
        wait_until(lambda: len(glob.glob("spool/*.batch")) >= 3)
        agent.kill()
        spooled = len(glob.glob("spool/*.batch"))
        server.start()
        agent = Agent(url, "-e", GETPPID)
        call("after")
        agent.stop()
        ledger = assert_balances(server)
        assert len(ledger) > spooled, (ledger, spooled)
        assert_all_calls(server, agent, "after")
        assert calls_of(server, "before") in range(CALLS + 1)
        assert not glob.glob("spool/*.batch"), os.listdir("spool")


def test_a_server_that_comes_later():
    with store() as (server, url):
        server.stop()
        agent = Agent(url, "-e", GETPPID)
        call()
        wait_until(lambda: glob.glob("spool/*.batch"))
        server.start()
        await_rows(server, "SELECT count() FROM stackmap.ledger")
        agent.stop()
        assert_all_calls(server, agent)
        assert_balances(server)


def test_the_last_line_counts_what_is_left():
    """Also what the agent puts into the spool at its end."""
    needs("bpf", "tracefs")
    agent = Agent("http://127.0.0.1:1", "-e", GETPPID, batch=100)
    call()
    agent.stop()
    left = glob.glob("spool/*.batch")
    assert left and "; %d in the spool, 0 set aside;" % len(left) in agent.said[-1], (left, agent.said)


def test_the_service_of_a_cgroup():
    """The service of a unit is its name; a rule gives another name, and the version."""
    with store() as (server, url):
        root = pathlib.Path(cgroup2()) / ("stackmap-agent-%d" % os.getpid())
        units = [root / "web@1.service", root / "worker.service"]
        agent = Agent(url, "-e", GETPPID, "--service", "*/worker.service=jobs:1.5")
        try:
            for unit in units:
                unit.mkdir(parents=True)
                run("sh", "-c", "echo $$ >%s/cgroup.procs; exec %s getppid=%d" % (unit, program("known_counts", called=NAME), CALLS))
        finally:
            for folder in *units, root:
                folder.rmdir()
        agent.stop()
        found = server.ask("SELECT service, version, cgroup, sum(count) %s GROUP BY service, version, cgroup ORDER BY service"
                           % OF_PROGRAM % NAME)
        assert [(service, version, int(count)) for service, version, _, count in found] == [
            ("jobs", "1.5", CALLS), ("web", "", CALLS)], found
        assert found[1][2].endswith("/web@1.service"), found


def test_exemplars_are_recordings():
    with store() as (server, url):
        agent = Agent(url, "-e", GETPPID, "--exemplars", "kept")
        call()
        agent.stop()
        kept = [Recording(path) for path in sorted(glob.glob("kept/window.data.*"))]
        events = [event for recording in kept for event in recording.events() if event.comm == NAME]
        assert len(events) == CALLS and kept, (len(events), os.listdir("kept"))
        assert_all_calls(server, agent)


def capabilities(pid):
    status = pathlib.Path("/proc/%d/status" % pid).read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("CapEff:")), 16)


def sender_of(agent):
    children = pathlib.Path("/proc/{0}/task/{0}/children".format(agent.process.pid)).read_text().split()
    senders = [int(pid) for pid in children if pathlib.Path("/proc/%s/comm" % pid).read_text() == "stackmap-send\n"]
    assert len(senders) == 1, children
    return senders[0]


def test_the_sender_has_no_privileges():
    """The sender has no capabilities; the recorder has those of `record`, and cannot load programs any more."""
    with store() as (_, url):
        agent = Agent(url, "-e", GETPPID)
        assert capabilities(sender_of(agent)) == 0
        assert not capabilities(agent.process.pid) & (1 << CAP_SYS_ADMIN | 1 << CAP_BPF)
        agent.stop()


def test_an_agent_whose_sender_is_gone_ends():
    """The agent ends, so that its unit is started again; its events are in the spool."""
    with store() as (server, url):
        agent = Agent(url, "-e", GETPPID, batch=3600)
        call()
        os.kill(sender_of(agent), signal.SIGKILL)
        agent.await_word("its sender has ended")
        assert agent.process.wait() == 1
        agent = Agent(url, "-e", GETPPID)
        agent.stop()
        assert_balances(server)
        assert calls_of(server) in range(CALLS + 1)


def refused(*options, config=None):
    """The message about wrong options, or about a file with these lines."""
    path = "/dev/null"
    if config is not None:
        path = "agent.conf"
        pathlib.Path(path).write_text(config)
    return stackmap("agent", "--config", path, "--spool", "spool", *options, status=2).stderr


def test_a_file_of_options_is_checked_as_options_are():
    text = refused(config="# what is sent\n\nto = http://store\nfrequency = often\n")
    assert "--frequency often: not a number" in text and "agent.conf:4:" in text, text
    text = refused(config="to = http://store\nfrequent = 19\n")
    assert "frequent" in text and "agent.conf:2:" in text, text
    text = refused(config="off-cpu = yes\n")
    assert "--off-cpu: takes no argument" in text and "agent.conf:1:" in text, text
    text = refused(config="freq = 19\n")
    assert "agent.conf:1:" in text, text
    text = refused("--to", "http://u:p@store", config="to = http://store\n")
    assert "--to" in text and "agent.conf" not in text, text


def test_a_spool_where_a_user_may_not_write():
    needs_command("setpriv", "--version")
    os.mkdir("theirs", mode=0o700)
    done = run("setpriv", "--reuid", "12345", "--regid", "12345", "--clear-groups", STACKMAP, "agent", "--config", "/dev/null",
               "--to", "http://127.0.0.1:1", "--spool", os.path.abspath("theirs/spool"), status=1)
    assert "theirs/spool: Permission denied; run as root, or with --spool" in done.stderr, done.stderr


def test_what_cannot_be_is_refused():
    assert "--to URL is missing" in refused()
    for options, word in (
            (["--to", "ftp://store"], "--to"),
            (["--to", "http://store", "--cpu", "0"], "--cpu 0"),
            (["--to", "http://store", "--cpu", "1x"], "--cpu 1x"),
            (["--to", "http://store", "--label", "rack"], "--label rack"),
            (["--to", "http://store", "--service", "web"], "--service web"),
            (["--to", "http://store", "--host", ""], "--host"),
    ):
        assert word in refused(*options), (options, refused(*options))
    assert not os.path.exists("spool")


def test_the_command_line_wins():
    """Options of the command line replace those of the file."""
    with store() as (server, url):
        shutil.rmtree("spool", ignore_errors=True)
        pathlib.Path("agent.conf").write_text("to = http://127.0.0.1:1\nhost = file\nlabel = of=file\n")
        agent = Agent(url, "-e", GETPPID, "--config", "agent.conf", host="line")
        call()
        agent.stop()
        host, labels = server.ask("SELECT host, labels FROM stackmap.hosts")[0]
        assert host == "line" and "'of=file'" in labels, (host, labels)


main(globals())
