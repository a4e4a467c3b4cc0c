#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`stackmap agent` with a receiver of profiles instead of a store: each window is sent once, or lost, which is said. The
events are a program's own system calls, as many as it was told to make."""

import gzip
import io
import os
import signal
import subprocess
import threading

from harness.cases import SECONDS_MAX, STACKMAP, main, needs, program, run, stackmap
from harness.exported import Pprof
from harness.otlp import Otlp
from harness.receiver import receiver, says
from harness.waiting import wait_until

CALLS = 400
GETPPID = "syscalls:sys_enter_getppid"
NAME = "pushed_counts"


class Agent:
    def __init__(self, url, *options, batch=1):
        needs("bpf", "raw tracepoints")
        self.process = subprocess.Popen(
            [STACKMAP, "agent", "--config", "/dev/null", "--to", url, "--host", "one", "--batch", str(batch), "-e", GETPPID,
             *map(str, options)], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.said = ""
        self.await_word(": recording as ")

    def await_word(self, word):
        for line in self.process.stderr:
            self.said += line
            if word in line:
                return
        raise AssertionError("the agent said only: " + self.said)

    def stop(self, status=0):
        self.process.send_signal(signal.SIGTERM)
        self.said += self.process.communicate(timeout=SECONDS_MAX)[1]
        assert self.process.returncode == status, (self.process.returncode, self.said)


def caller():
    """Runs the caller with a name that no other task has."""
    return program("known_counts", called=NAME)


def call():
    run(caller(), "getppid=%d" % CALLS)


def calls_of(sums, event):
    return sum(count for (kind, task, _), (count, _) in sums.items() if kind == event and task == NAME)


def test_otlp_has_all_events():
    with receiver() as server:
        agent = Agent(server.url("otlp"), "--label", "rack=7")
        call()
        wait_until(lambda: server.requests)
        call()
        agent.stop()
    requests = [Otlp(gzip.decompress(request.body)) for request in server.requests]
    assert sum(calls_of(each.sums(), GETPPID) for each in requests) == 2 * CALLS and len(requests) > 1, len(requests)
    for each in requests:
        assert each.resource["host.name"] == "one" and each.resource["rack"] == "7"
        (profile,) = each.profiles
        ledger = each.attributes(profile)
        lost = sum(number for name, number in ledger.items() if ".lost." in name)
        assert ledger["stackmap.ledger.produced"] == ledger["stackmap.ledger.recorded"] + lost
        assert ledger["stackmap.ledger.recorded"] == sum(count for count, _ in each.sums().values()), ledger


def test_pyroscope_has_all_events():
    with receiver() as server:
        agent = Agent(server.url("pyroscope"))
        call()
        agent.stop()
    profiles = [Pprof(io.BytesIO(request.parts()["profile"])) for request in server.requests]
    assert sum(calls_of(each.sums(), GETPPID.replace(":", ".")) for each in profiles) == CALLS


def test_a_refusal_is_said_and_the_next_window_is_sent():
    with receiver(says(500)) as server:
        agent = Agent(server.url("otlp"))
        call()
        agent.await_word("a window is lost, or in doubt")
        server.answer = says(200)
        call()
        agent.stop()
    requests = [Otlp(gzip.decompress(request.body)) for request in server.requests]
    assert sum(calls_of(each.sums(), GETPPID) for each in requests) == 2 * CALLS, "sent again, or nothing more"


def test_a_receiver_that_hangs_stops_nothing():
    """The number of waiting windows is limited, further ones are lost and reported; the agent ends when it is told to."""
    over = threading.Event()

    def hangs(_):
        over.wait(SECONDS_MAX)

    with receiver(hangs) as server:
        agent = Agent(server.url("otlp"))
        calling = subprocess.Popen([caller(), "getppid=2000000000"])
        agent.await_word("too slow: windows are lost")
        calling.kill()
        calling.wait()
        agent.stop()
        over.set()
    assert server.requests


def test_wrong_usage():
    for options, why in {
        ("--to", "otlp+https://me:hidden@x"): "may not hold a user",
        ("--to", "other+https://x"): "no kind of receiver",
        ("--to", "ftp://x"): "--to: this is no URL of a store; a store is http",
        ("--to", "https://x", "--bearer-file", "y"): "a user and a password",
    }.items():
        done = stackmap("agent", "--config", "/dev/null", *options, status=2)
        assert why in done.stderr and "hidden" not in done.stderr, done.stderr


def test_no_secret_in_the_clear():
    """Refused before anything is loaded; a store's password as well."""
    with open("secret", "w", encoding="ascii") as file:
        file.write("x")
    os.chmod("secret", 0o600)
    for options in (["--to", "otlp+http://stackmap.invalid", "--bearer-file", "secret"],
                    ["--to", "http://127.0.0.1,stackmap.invalid", "--user", "me", "--password-file", "secret"]):
        done = stackmap("agent", "--config", "/dev/null", *options, status=2)
        assert "http://stackmap.invalid:" in done.stderr and "use https, or --allow-cleartext" in done.stderr, done.stderr


main(globals())
