#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A program whose file, and therefore its task, has a name that a terminal would interpret is recorded: every file of an
instance, every live view and every list shows the name as text. Runs in a mount namespace with a BPF file system of its own."""

import contextlib
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

from harness.cases import STACKMAP, main, needs, program, run
from harness.engine_folder import HOME, enter_own_mounts, fresh_bpffs
from harness.odd_names import CLASSES, check_shown, is_hidden, name_of, outputs

CALLS = 20


def odd_program(kind):
    name = name_of(kind)
    shutil.copy(program("known_counts"), name)
    return b"./" + name


def events_of(path):
    return [b"-e", b"syscalls:sys_enter_getppid", b"-e", b"u:" + path + b":counted"]


def call(path):
    run(os.fsdecode(path), "getppid=%d" % CALLS, "calls=%d" % CALLS)


def check_file(kind, file, seen):
    with open("%s/odd/%s" % (HOME, file), "rb") as stream:
        text = stream.read()
    check_shown((kind, file), text, seen=seen)
    assert text.isascii(), (kind, file, text)


def test_files_of_an_instance():
    """A program has no room to tell characters beyond ASCII: their bytes are shown as those of controls are."""
    needs("bpf", "raw tracepoints", "uprobes")
    for kind in CLASSES:
        fresh_bpffs()
        path = odd_program(kind)
        outputs("start", "odd", *events_of(path))
        call(path)
        for file in "stack_map", "trace", "stack_map_stat":
            check_file(kind, file, seen=file != "stack_map_stat")
        check_file(kind, "mappings", seen=False)
        with open(HOME + "/odd/mappings", "rb") as file:
            exact = re.sub(rb"\\([0-7]{3})", lambda digits: bytes([int(digits[1], 8)]), file.read())
        assert os.getcwdb() + path[1:] in exact, (kind, exact)
        for words in ["status", "odd"], ["report", "--instance", "odd"], ["script", "--instance", "odd"]:
            printed, said = outputs(*words)
            check_shown((kind, words), printed)
            check_shown((kind, words), said, seen=False)
        outputs("stop", "odd")


def test_recordings_and_lists():
    needs("bpf", "raw tracepoints", "uprobes")
    for kind in CLASSES:
        path = odd_program(kind)
        _, said = outputs("record", *events_of(path), "-o", b"odd" + path[2:], "--", path, "getppid=5", "calls=5")
        check_shown(kind, said, seen=False)
        printed, _ = outputs("script", b"odd" + path[2:])
        check_shown(kind, printed)
        printed, _ = outputs("list", b"u:" + path + b":coun*")
        check_shown(kind, printed)
        printed, _ = outputs("list", "--json", b"u:" + path + b":coun*")
        assert printed.isascii() and b"\x7f" not in printed, (kind, printed)


class Screen:
    """The bytes that a command writes to a terminal."""

    def __init__(self, *words):
        self.end, inner = pty.openpty()
        environment = {**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8", "LINES": "24", "COLUMNS": "200"}
        self.process = subprocess.Popen([STACKMAP, *words], stdin=inner, stdout=inner, stderr=inner, env=environment)
        os.close(inner)
        self.bytes = b""

    def read(self, seconds):
        with contextlib.suppress(OSError):  # it has ended
            if select.select([self.end], [], [], seconds)[0]:
                self.bytes += os.read(self.end, 65536)

    def until(self, wanted, again):
        limit = time.monotonic() + 60
        while wanted not in self.bytes and time.monotonic() < limit:
            again()
            self.read(0.2)
        self.process.send_signal(signal.SIGTERM)
        while self.process.poll() is None:
            self.read(0.2)
        os.close(self.end)
        return self.bytes


# Control sequences that ncurses itself sends to an xterm.
SEQUENCES = re.compile(rb"\x1b(\[[0-9;?>]*[A-Za-z]|[()][A-Z0-9]|[=>78M])|[\r\n\b\x0e\x0f]")


def test_the_screen_of_top():
    needs("bpf", "raw tracepoints")
    for kind in CLASSES:
        path = odd_program(kind)
        screen = Screen("top", "--stacks", "--delay", "1", "-e", "syscalls:sys_enter_getppid")
        drawn = screen.until(b"ab?", lambda path=path: call(path))
        assert b"ab?" in drawn and name_of(kind) not in drawn, (kind, drawn)
        hidden = [character for character in SEQUENCES.sub(b"", drawn).decode() if is_hidden(character)]
        assert not hidden, (kind, hidden, drawn)


def test_the_text_of_top():
    needs("bpf", "raw tracepoints")
    for kind in "C0", "byte of C1", "order":
        path = odd_program(kind)
        with subprocess.Popen([STACKMAP, "top", "--batch", "--stacks", "--delay", "1", "-e", "syscalls:sys_enter_getppid"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as top:
            top.stdout.readline()
            lines = []
            call(path)
            while not any(b"ab" in line for line in lines):
                lines.append(top.stdout.readline())
                assert lines[-1], lines
            top.terminate()
        check_shown(kind, b"".join(lines))


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
