#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""`top`: its text adds up to the calls that were made, and its screen, on a terminal that tmux plays, obeys its keys and
leaves the terminal as it was, however it ends."""

import os
import re
import resource
import signal
import subprocess
import time

from harness.cases import SECONDS_MAX, STACKMAP, main, needs, needs_command, on_terminal, one_of_several, program, run, stackmap
from harness.engine_folder import enter_own_mounts, fresh_bpffs
from harness.top_text import LEDGER, WEIGHT, Text

COUNTS = program("known_counts")
SOURCE = "u:%s:counted" % COUNTS
OTHER = "u:%s:ask_parent" % COUNTS
TAKE = "u:%s:take/value=arg3:bytes/" % COUNTS
ASKS = ["getppid=1"] * 200
FLIGHT, DRAIN = ["--flight", "2M"], ["--ring", "1M"]


def start(*options, source=SOURCE):
    needs("bpf", "uprobes")
    fresh_bpffs()
    stackmap("start", "live", "-e", source, *options)


def call(count):
    run(COUNTS, "calls=%d" % count)


def check_functions(refresh):
    """All stacks are the same."""
    assert re.match(r" *100.00% 100.00%  counted  /.*/known_counts$", refresh[3]), refresh
    others = {line.split()[2] for line in refresh[4:] if line.split()[:2] == ["0.00%", "100.00%"]}
    assert {"call", "main"} <= others, refresh


def check_ledger(refresh, events):
    produced, recorded, lost = map(int, LEDGER.match(refresh[1]).groups())
    assert (produced, recorded, lost) == (events, events, 0), refresh[1]


def check_text(*options):
    """Every call is shown once, in the refresh in which it came."""
    text = Text(*options)
    assert WEIGHT.search(text.refresh()[0])[1] == "0"
    for calls in (300, 500):
        call(calls)
        shown = [refresh for refresh in text.until(calls) if len(refresh) > 3]
        for refresh in shown:
            check_functions(refresh)
    check_ledger(shown[-1], 800)
    text.end()


@one_of_several
def test_text_of_own_events():
    needs("bpf", "uprobes")
    check_text("-e", SOURCE)


@one_of_several
def test_text_of_a_drain_instance():
    start(*DRAIN)
    check_text("--instance", "live")
    stackmap("stop", "live")


@one_of_several
def test_text_fits_its_terminal():
    """A name of 18 kB takes one line of a terminal; elsewhere it is whole."""
    name = "f" * 18000
    with open("long.c", "w", encoding="ascii") as file:
        file.write("#include <unistd.h>\nvoid %s(void) { getppid(); }\nint main(void) { %s(); return 0; }\n" % (name, name))
    run("gcc", "-O0", "long.c", "-o", "long")
    start(*DRAIN, "--comm", "long", source="syscalls:sys_enter_getppid")
    text = [STACKMAP, "top", "--batch", "--iterations", "1", "--delay", "1", "--instance", "live"]
    run("./long")
    status, shown = on_terminal(text, COLUMNS="90")
    lines = shown.splitlines()
    assert status == 0 and max(map(len, lines[2:])) == 90, shown
    assert [line for line in lines if line.endswith("/long") and "ffff...ffff" in line], shown
    run("./long")
    assert re.search("^ .* %s  /.*/long$" % name, stackmap(*text[1:]).stdout, re.MULTILINE)


@one_of_several
def test_text_of_a_flight_instance():
    """It keeps what was shown; what it had before is not shown; and resets in between do no harm."""
    start(*FLIGHT)
    call(100)
    text = Text("--instance", "live")
    assert WEIGHT.search(text.refresh()[0])[1] == "0"
    for _ in range(3):
        call(200)
        for refresh in text.until(200):
            if len(refresh) > 3:
                check_functions(refresh)
        stackmap("reset", "live")
    call(50)
    text.until(50)
    text.end()
    assert len(re.findall("counted:", stackmap("script", "--ids", "--instance", "live").stdout)) == 50
    stackmap("stop", "live")


def test_it_ends_with_its_process():
    needs("bpf", "uprobes")
    with subprocess.Popen(["sleep", "60"]) as sleeper:
        text = Text("-e", SOURCE, "-p", str(sleeper.pid))
        text.refresh()
        sleeper.kill()
    _, messages = text.process.communicate(timeout=SECONDS_MAX)
    assert text.process.returncode == 0, messages
    assert messages == "stackmap: 0 events: there was no %s in the processes of -p\n" % SOURCE, messages


def test_default_is_the_whole_machine():
    needs("bpf", "perf events")
    text = stackmap("top", "-b", "-n", "1", "-d", "1", "--lines", "3").stdout
    assert "cpu-clock" in text.splitlines()[0], text
    assert len(text.splitlines()) <= 3 + 3 + 1, text
    check_ledger(text.splitlines(), int(WEIGHT.search(text)[1]))


@one_of_several
def test_stacks_and_other_events_in_text():
    start(*DRAIN, "-e", OTHER)
    text = Text("--instance", "live", "--stacks")
    text.refresh()
    run(COUNTS, "calls=300", *ASKS)
    seen = {}
    while sum(seen.values()) < 500:
        refresh = text.refresh()
        name = refresh[0].split()[-1]
        seen[name] = seen.get(name, 0) + int(WEIGHT.search(refresh[0])[1])
        assert "SHARE" in refresh[2], refresh
        for line in refresh[3:]:
            assert line.split()[:3] == ["100.00%", "known_counts", name.rpartition(":")[2]], refresh
    assert seen == {SOURCE: 300, OTHER: 200}, seen
    text.end()
    stackmap("stop", "live")


@one_of_several
def test_values_as_histograms():
    """The text below each function is that of `report --hist`, for all events of a flight recorder that came within a refresh."""
    start(*FLIGHT, source=TAKE)
    for scale, sort, report in (("log2", "self", ()), ("lin", "total", ("--children",))):
        stackmap("reset", "live")
        text = Text("--instance", "live", "--hist", scale, "--sort", sort)
        text.refresh()
        run(COUNTS, "arguments=1000")
        shown = next(refresh for refresh in iter(text.refresh, None) if len(refresh) > 3)
        text.end()
        found, function = {}, None
        for line in shown[3:]:
            if "%" in line:
                function = line.split()[2]
            else:
                found.setdefault(function, []).append(line.strip())
        expected, function = {}, None
        for line in stackmap("report", "--hist", scale, "--sort", "symbol", *report, "--top", "0", "--instance", "live").stdout.splitlines():
            if "%" in line:
                function = line.split()[1]
            elif function and line.strip():
                expected.setdefault(function, []).append(line.strip())
        assert expected["take"][0].startswith("1000 events  sum 1.43 MiB  average 1.46 KiB  min 0 bytes  p50 "), expected
        names = ["take"] if sort == "self" else ["take", "call_low", "call_high", "main"]
        assert [found[name] for name in names] == [expected[name] for name in names], (found, expected)
    stackmap("stop", "live")


class Terminal:
    """A shell on a terminal of tmux, in which things are typed."""

    def __init__(self, columns=100, lines=24):
        needs_command("tmux", "-V")
        self.tmux("new-session", "-d", "-x", columns, "-y", lines, "env PS1='$ ' TERM=screen sh")
        self.type("stty -g > settings; echo before", "Enter")
        self.wait(r"^(\$ )?before$")

    def tmux(self, *words):
        return run("tmux", "-S", "terminal", "-f", "/dev/null", *words).stdout

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.tmux("kill-server")

    def type(self, *keys):
        self.tmux("send-keys", *keys)

    def text(self):
        return self.tmux("capture-pane", "-p")

    def wait(self, pattern, seconds=SECONDS_MAX):
        """Until this is seen; returns the screen."""
        end = time.monotonic() + seconds
        while True:
            text = self.text()
            if re.search(pattern, text, re.MULTILINE):
                return text
            assert time.monotonic() < end, "%s is not seen:\n%s" % (pattern, text)
            time.sleep(0.05)

    def start(self, *options):
        self.type("%s; echo status $?" % " ".join((STACKMAP, "top", "--delay", "1", *options)), "Enter")
        return self.wait(r"^  (SELF|SHARE)")

    def check_restored(self, status, said):
        text = self.wait(r"^status %d$" % status)
        assert re.search(r"^(\$ )?before$", text, re.MULTILINE) and said in text, text
        self.type("clear; test \"$(stty -g)\" = \"$(cat settings)\" && echo as it was", "Enter")
        self.wait("^as it was")
        assert self.tmux("display-message", "-p", "#{alternate_on} #{cursor_flag}").split() == ["0", "1"]


def hold(terminal):
    """Makes events until a refresh with both sources is on the screen, and holds that: the next would be without."""
    for _ in range(20):
        run(COUNTS, "calls=300", *ASKS)
        terminal.wait("100.00%")
        terminal.type("p")
        terminal.wait(r"\[paused\]")
        text = terminal.text()
        if "100.00%" in text and " (1 of 2)" in text:
            return text
        terminal.type("p")
        terminal.wait(r"(?s)\A(?!.*\[paused\])")
    raise AssertionError("not both sources are shown:\n" + text)


def row(text, pattern):
    """Number of the first line that has it."""
    for number, line in enumerate(text.splitlines()):
        if re.search(pattern, line):
            return number
    raise AssertionError("%s is not seen:\n%s" % (pattern, text))


@one_of_several
def test_keys():
    start(*DRAIN, "-e", OTHER)
    with Terminal() as terminal:
        terminal.start("--instance", "live")
        text = hold(terminal)
        assert "live" in text and row(text, "counted  /") == 3, text
        terminal.type("Enter")
        text = terminal.wait(r"\[u\] main")
        assert row(text, "counted  /") < row(text, "100.00%  known_counts") < row(text, r"\[u\] counted") < row(
            text, r"\[u\] call ") < row(text, r"\[u\] main") < row(text, r"^  0.00% 100.00%  "), text
        terminal.type("Enter")
        terminal.wait(r"(?s)\A(?!.*\[u\])")
        terminal.type("j", "Down", "k", "Enter")
        text = terminal.wait(r"\[u\] main")
        assert row(text, "100.00%  known_counts$") == 5, "the second function is unfolded:\n" + text
        terminal.type("Enter", "s")
        terminal.wait(r"TOTAL\*")
        terminal.type("s", "t")
        text = terminal.wait("^  SHARE")
        assert re.search("100.00%  known_counts +counted", text), text
        terminal.type("t", "e")
        text = terminal.wait(r" \(2 of 2\)")
        assert row(text, "100.00% 100.00%  ask_parent") == 3, text
        terminal.type("h")
        terminal.wait("keys")
        terminal.type("x", "e")
        terminal.wait(r" \(1 of 2\)")
        terminal.tmux("resize-window", "-x", 50, "-y", 8)
        text = terminal.wait(r"(?s)\A(?:[^\n]{0,50}\n){3,8}\Z")
        terminal.type("G", "Enter")
        terminal.wait(r"\[u\]")
        terminal.tmux("resize-window", "-x", 100, "-y", 24)
        terminal.type("q")
        terminal.check_restored(0, "stackmap: ledger: ")
    stackmap("stop", "live")


@one_of_several
def test_key_for_histograms():
    start(*DRAIN, source=TAKE)
    with Terminal(100, 50) as terminal:
        terminal.start("--instance", "live")
        terminal.type("v")
        for _ in range(20):
            run(COUNTS, "arguments=1000")
            terminal.wait("100.00%  take")
            terminal.type("p")
            if "1.43 MiB in" in terminal.wait(r"\[paused\]"):
                break
            terminal.type("p")
            terminal.wait(r"(?s)\A(?!.*\[paused\])")
        terminal.type("Enter")
        text = terminal.wait(r"\[u\] take")
        assert re.search(r"^ +1000 events  sum 1.43 MiB  average 1.46 KiB  min 0 bytes  p50", text, re.MULTILINE), text
        assert re.search(r"^ +512 bytes .. 1023 bytes +17[01]  #+$", text, re.MULTILINE), text
        assert row(text, "1000 events  sum") < row(text, r"\[u\] take"), text
        terminal.type("v")
        terminal.wait(r"^ +0 bytes .. 199 bytes +67  #+$")
        terminal.type("v")
        text = terminal.wait(r"(?s)\A(?!.*1000 events  sum).*\[u\]")
        terminal.type("q")
        terminal.check_restored(0, "stackmap: ledger: ")
    stackmap("stop", "live")


def end_by(end):
    start(*DRAIN)
    with Terminal() as terminal:
        terminal.start("--instance", "live")
        end(terminal)
        terminal.check_restored(0, "stackmap: ledger: 0 events")
    stackmap("stop", "live", status=None)


def pid_of_top():
    found = run("pgrep", "-f", "%s top --delay 1 --instance live" % STACKMAP, status=None).stdout.split()
    return [int(pid) for pid in found if os.readlink("/proc/%s/exe" % pid) == STACKMAP][0]


def test_ctrl_c_restores_the_terminal():
    end_by(lambda terminal: terminal.type("C-c"))


def test_sigterm_restores_the_terminal():
    end_by(lambda terminal: os.kill(pid_of_top(), signal.SIGTERM))


def test_the_end_of_the_instance_restores_the_terminal():
    end_by(lambda terminal: stackmap("stop", "live"))


def test_the_key_for_a_core_dump_does_nothing():
    def end(terminal):
        terminal.type("C-\\", "h")
        terminal.wait("keys")
        terminal.type("q")

    end_by(end)


def test_an_error_restores_the_terminal():
    """Of a sudden it may open no more files."""
    start(*DRAIN)
    with Terminal() as terminal:
        terminal.start("--instance", "live")
        resource.prlimit(pid_of_top(), resource.RLIMIT_NOFILE, (4, 4))
        terminal.check_restored(1, "stackmap: live: Too many open files")
    stackmap("stop", "live")


def test_no_terminal():
    done = stackmap("top", status=2)
    assert done.stderr.count("\n") == 1 and "--batch" in done.stderr, done.stderr


def test_a_terminal_that_nobody_knows():
    start(*DRAIN)
    with Terminal() as terminal:
        terminal.type("TERM=nonsense %s top --instance live; echo status $?" % STACKMAP, "Enter")
        text = terminal.wait("^status 1")
        assert "nonsense" in text and "--batch" in text, text
    stackmap("stop", "live")


def test_wrong_usage():
    for options, named in ((("--delay", "0"), "--delay"), (("-b", "--sort", "name"), "self, total"), (("-b", "--hist", "log3"), "log2, lin"),
                           (("-b", "--instance", "live", "-e", "cpu-clock"), "-e"), (("-b", "-p", "0"), "-p")):
        done = stackmap("top", *options, status=None)
        assert done.returncode in (1, 2) and done.stderr.count("\n") == 1 and named in done.stderr, (options, done.stderr)
    done = stackmap("top", "-b", "--instance", "nobody", status=1)
    assert "nobody" in done.stderr, done.stderr


def test_one_reader():
    """Two would each see half of it."""
    start(*DRAIN)
    text = Text("--instance", "live")
    text.refresh()
    done = stackmap("top", "-b", "--instance", "live", status=1)
    assert done.stderr.count("\n") == 1 and "read" in done.stderr, done.stderr
    text.end()
    stackmap("stop", "live")


if __name__ == "__main__":
    enter_own_mounts()
    main(globals())
