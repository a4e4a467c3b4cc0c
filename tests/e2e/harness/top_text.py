# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The output of `top --batch`."""

import re
import signal
import subprocess

from harness.cases import SECONDS_MAX, STACKMAP

WEIGHT = re.compile(r"(\d+) events in [0-9.]+ s")
LEDGER = re.compile(r"ledger: (\d+) events = (\d+) recorded(?: \+ \d+ counted only)? \+ (\d+) lost")


class Text:
    """top --batch, refresh by refresh."""

    def __init__(self, *options):
        self.process = subprocess.Popen([STACKMAP, "top", "--batch", "--delay", "1", *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def refresh(self):
        """Its lines, without the empty one behind them."""
        lines = []
        while line := self.process.stdout.readline().rstrip("\n"):
            lines.append(line)
        assert lines, self.process.stderr.read()
        return lines

    def until(self, count):
        """Refreshes until so many events were shown in all: no more may come."""
        refreshes, seen = [], 0
        while seen < count:
            refreshes.append(self.refresh())
            seen += int(WEIGHT.search(refreshes[-1][0])[1])
        assert seen == count, (seen, count)
        return refreshes

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        _, messages = self.process.communicate(timeout=SECONDS_MAX)
        assert self.process.returncode == 0, messages
