# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A recorder that runs beside its test."""

import signal
import subprocess

from harness.cases import SECONDS_MAX, STACKMAP, needs
from harness.recording import Recording


def sources(*names):
    """The options that record these events, each once."""
    return [word for name in dict.fromkeys(names) for word in ("-e", name)]


class Recorder:
    """Records until it is told to end, which is where its command still waits."""

    def __init__(self, *arguments, output="f.data"):
        needs("bpf", "raw tracepoints")
        self.output = output
        self.process = subprocess.Popen([STACKMAP, "record", "-o", output, *map(str, arguments)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def say(self, line):
        """The command echoes: it has taken the line, and waits for the next."""
        self.process.stdin.write(line)
        self.process.stdin.flush()
        assert self.process.stdout.readline() == line, self.process.stderr.read()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(SECONDS_MAX)  # the command's input stays open: it does not wake up
        return self.ended()

    def ended(self):
        """Its command ends by itself, at the end of its input if it is `cat`: the recorder waits for names, which it does for a
        second only after a signal."""
        _, messages = self.process.communicate(timeout=SECONDS_MAX)
        return Recording(self.output, messages.decode())
