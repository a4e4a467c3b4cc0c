# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""An instance as its files and `status` show it."""

import json
import os

from harness.cases import stackmap
from harness.engine_folder import HOME
from harness.recording import check_ledger

CALLS = "syscalls:sys_enter_getppid"


def path_of(name, *more):
    return os.path.join(HOME, name, *more)


def read(name, file):
    with open(path_of(name, file), encoding="utf-8") as opened:
        return opened.read()


def stat_of(name):
    return dict(line.split(": ", 1) for line in read(name, "stack_map_stat").splitlines())


def status_of(name):
    status = json.loads(stackmap("status", name, "--json").stdout)
    check_ledger(status["ledger"])
    assert status["name"] == name
    return status
