#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The spools of an agent of arm64 and of one of x86-64 go into one store, twice: once sent by the program of this machine, once by that of
arm64. The store then holds all events of both agents' windows with the same functions, and the commands of both architectures print the
same bytes of it. An emulator of programs runs arm64's.

usage: fleet_of_both.py STACKMAP SEND_BATCHES ARM64_STACKMAP ARM64_SEND_BATCHES

The working folder has arm64-spool, arm64-windows, x86-64-spool and x86-64-windows; CROSS_ROOT is a Debian with arm64's libraries.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "e2e"))
from harness.clickhouse import USER, clickhouse, password_file, url_of  # pylint: disable=wrong-import-position
from harness.skip import Skip  # pylint: disable=wrong-import-position

HOSTS = "arm64", "x86-64"
EMULATOR = [os.path.join(os.environ["CROSS_ROOT"], "usr/bin/qemu-aarch64-static"), "-L", os.environ["CROSS_ROOT"]]


def printed(*command, text=""):
    done = subprocess.run([str(word) for word in command], input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0, (command, done.returncode, done.stderr.decode())
    return done.stdout.decode(errors="surrogateescape")


def send(sender, url, password, folder):
    """All batches of both spools, from copies of these."""
    for host in HOSTS:
        spool = folder / (host + "-spool")
        shutil.copytree(host + "-spool", spool)
        said = printed(*sender, url, spool, 1 << 30, host, password, 60000, text="drain 60\nstate\n").splitlines()
        assert said[0].startswith("idle 0"), (host, said)
        assert int(said[1].split()[0]) >= 1, (host, said)


def check_store(url, access, commands):
    """The number of events, which is that of both agents' windows; and all that is read is the same by both commands."""
    ours = commands[0]
    since, until = (time.strftime("%Y-%m-%dT%H:%M", time.gmtime(time.time() + distance)) for distance in (-3600, 3600))
    access = "--from", url, "--since", since, "--until", until, *access
    wanted = [("hosts", "--json", *access), ("report", "--json", *access), ("report", "--top", "0", *access)]
    wanted += [("export", "--format", form, "--host", host, *access) for form in ("folded", "pprof", "otlp") for host in HOSTS]
    for words in wanted:
        first, second = (printed(*command, *words) for command in commands)
        assert first == second, (words, first, second)
    events = 0
    for host in HOSTS:
        windows = sorted(printed(*ours, "export", "--no-inline", "--format", "folded", host + "-windows").splitlines())
        stored = sorted(printed(*ours, "export", "--no-inline", "--format", "folded", "--host", host, *access).splitlines())
        assert windows == stored, (host, windows, stored)
        counts = [int(line.rsplit(" ", 1)[1]) for line in stored]
        # Seven places have 20 calls each; two of them are in one function, if the functions have names.
        assert sum(counts) == 140 and set(counts) <= {20, 40}, (host, stored)
        events += sum(counts)
    return events, len(wanted)


def main():
    commands = [[sys.argv[1]], [*EMULATOR, sys.argv[3]]]
    senders = [[sys.argv[2]], [*EMULATOR, sys.argv[4]]]
    password = password_file().resolve()
    access = "--user", USER, "--password-file", password
    with clickhouse() as servers:
        for number, sender in enumerate(senders):
            url = url_of(servers, "sent_%d" % number)
            printed(*commands[number], "store", "init", url, *access)
            folder = pathlib.Path("sent-%d" % number)
            folder.mkdir()
            send(sender, url, password, folder)
            events, read = check_store(url, access, commands)
            for command in commands:
                said = printed(*command, "store", "check", url, *access)
                assert "%d produced = %d stored + 0 lost + 0 missing" % (events, events) in said, (command, events, said)
    print("%d events of two agents in a store: sent by each architecture, %d readings are the same bytes on both" % (events, read))


try:
    main()
except Skip as reason:
    print("fleet of arm64 and x86-64: left out, %s" % reason)
