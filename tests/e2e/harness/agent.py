# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An agent that sends to a store of the test's own, with short windows and batches, and what came of it there."""

import signal
import subprocess

from harness.cases import SECONDS_MAX, STACKMAP, stackmap
from harness.clickhouse import USER, password_file, url_of
from harness.waiting import wait_until

GETPPID = "syscalls:sys_enter_getppid"


def access():
    return ["--user", USER, "--password-file", str(password_file())]


def init_store(servers):
    return stackmap("store", "init", url_of(servers), *access())


class Agent:
    """Records what the options name, whole machine, until it is stopped; its spool is below the working folder."""

    def __init__(self, url, *options, host="one", window=1, batch=1):
        self.process = subprocess.Popen(
            [STACKMAP, "agent", "--config", "/dev/null", "--to", url, "--host", host, "--spool", "spool",
             "--window", str(window), "--batch", str(batch), *access(), *map(str, options)],
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said = []
        self.await_word(": recording as ")

    def await_word(self, word):
        """It records from then on, or has ended."""
        for line in self.process.stderr:
            self.said.append(line)
            if word in line:
                return
        raise AssertionError("the agent said only:\n%s" % "".join(self.said))

    def stop(self):
        """Stops the agent as systemd does: the last window is sent."""
        self.process.send_signal(signal.SIGTERM)
        self.said.append(self.process.communicate(timeout=SECONDS_MAX)[1])
        assert self.process.returncode == 0, (self.process.returncode, "".join(self.said))

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(timeout=SECONDS_MAX)


def number(server, sql):
    return int(server.ask(sql)[0][0])


def assert_balances(server):
    """The rows of each window add up to the recorded events of its ledger, and each window has a ledger."""
    ledger = {(time, host): (int(produced), int(recorded), sum(map(int, lost.strip("[]").split(",") if lost != "[]" else [])))
              for time, host, produced, recorded, lost in server.ask(
                  "SELECT time, host, produced, recorded, lost FROM stackmap.ledger FINAL")}
    stored = {(time, host): int(count) for time, host, count in server.ask(
        "SELECT time, host, sum(count) FROM stackmap.events FINAL GROUP BY time, host")}
    assert ledger and set(stored) <= set(ledger), (ledger, stored)
    for window, (produced, recorded, lost) in ledger.items():
        assert produced == recorded + lost and stored.get(window, 0) == recorded, (window, ledger, stored)
    return ledger


def await_rows(server, sql, least=1):
    wait_until(lambda: number(server, sql) >= least)
