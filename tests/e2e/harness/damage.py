# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Messages about damaged recordings."""

import json
import re

from harness.cases import stackmap

DAMAGED = re.compile(r"^stackmap: \S+: (?:damaged at byte (\d+): .+|ends at byte (\d+): .+ not finished)\n$")


def damage_of(done):
    """The last line of its messages. A line before it may be about missing names."""
    return DAMAGED.match(done.stderr.splitlines(keepends=True)[-1]) if done.stderr else None


def read_damaged(path):
    """Events that read back, and the offset that the error line names."""
    done = stackmap("report", "--json", path, status=1)
    error = damage_of(done)
    assert error, done.stderr
    events = sum(stack["count"] for stack in json.loads(done.stdout)["stacks"])
    return events, int(error[1] or error[2])


def check_printed_ledger(text):
    total = re.search(r"ledger: (\d+) events = (\d+) recorded \+ (\d+) lost", text)
    assert total and int(total[1]) == int(total[2]) + int(total[3]) and int(total[3]) > 0, text
    causes = re.findall(r"ledger: lost: (\d+), ", text)
    assert sum(map(int, causes)) == int(total[3]), text
