#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The advice of the report for code that a runtime generates or interprets: a program without names gets the note, and the
same program with the options that the note names has names. The test takes the options from the note itself. Two notes have a
stand-in (machine_code) for a runtime: .NET, which Debian does not have, and a runtime without a note of its own."""

import contextlib
import glob
import json
import os
import re
import shutil
import subprocess

from harness.cases import main, needs, one_of_several, program, stackmap
from harness.recording import record
from harness.skip import Skip

JAVA = """public class Fib {
	static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
	public static void main(String[] arguments) throws Exception {
		for (int i = 0; i < 8; i++)
			fib(38);
		if (arguments.length > 0) {
			System.out.println("ready");
			System.in.read();
		}
	}
}
"""
# The perf map is asked for when all compiled code has run, and before the process ends.
JCMD = """coproc java Fib wait
read -r ready <&"${COPROC[0]}"
%s >/dev/null
echo >&"${COPROC[1]}"
wait
"""
NODE = "function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\nfor (let i = 0; i < 20; i++) fib(32);\n"
PYTHON = "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)\n\n\nfib(31)\n"
RUBY = "def fib(n) n < 2 ? n : fib(n - 1) + fib(n - 2) end\nfib(32)\n"
PHP = "<?php\nfunction fib($n) { return $n < 2 ? $n : fib($n - 1) + fib($n - 2); }\nfib(36);\n"
PERL = "sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }\nfib(24);\n"
ERLANG = """-module(fib).
-export([main/0]).
fib(N) when N < 2 -> N;
fib(N) -> fib(N - 1) + fib(N - 2).
main() -> fib(40), halt().
"""


# As .NET does by its documentation: 1 has a perf map written to /tmp.
DOTNET = """case "$DOTNET_PerfMapEnabled" in
1) exec ./dotnet jit_map %d ;;
*) exec ./dotnet jit %d ;;
esac
"""
CALLS = 200000000  # long enough for the recorder to come round
NAMED_SHARE = 0.1  # without its map a runtime's code has no names at all; the loop that calls it may take most samples


def need_program(name, package):
    needs("bpf", "perf events")
    if not shutil.which(name):
        raise Skip("no %s here (Debian package %s)" % (name, package))


def write(name, text):
    with open(name, "w", encoding="ascii") as file:
        file.write(text)


def notes(recording):
    return re.findall(r"^# note: +(.*)$", stackmap("report", "--no-pager", recording.path).stdout, re.M)


def note_of(code, *command, options=()):
    """The report's advice for the unchanged program."""
    found = [note for note in notes(record("-F", 999, *options, "--", *command)) if note.startswith(code + " has no names: ")]
    assert len(found) == 1, found
    return found[0]


def share_with(recording, name):
    """The share of the events whose user stack has a function of this name."""
    stacks = json.loads(stackmap("report", "--json", recording.path).stdout)["stacks"]
    named = sum(stack["count"] for stack in stacks if any(name in frame for frame in stack["user"]))
    return named / sum(stack["count"] for stack in stacks)


def remove_maps(recording):
    """The runtimes leave them."""
    for row in json.loads(stackmap("report", "--json", "--sort", "pid", recording.path).stdout)["rows"]:
        with contextlib.suppress(FileNotFoundError):
            os.remove("/tmp/perf-%d.map" % row["pid"])


def check_named(name, *command, options=()):
    recording = record("-F", 999, *options, "--", *command)
    remove_maps(recording)
    assert not notes(recording), notes(recording)
    assert share_with(recording, name) > NAMED_SHARE, (command, share_with(recording, name))
    return recording


def options_of(note, program):
    """`java -A -B (from JDK 17 on) names it` has the options -A -B."""
    return re.search(r"\b%s ((?:[-+][^;(]*?)+?) (?:\(.*?\) )?names " % program, note)[1].split()


@one_of_several
def test_java():
    need_program("javac", "openjdk-17-jdk-headless")
    write("Fib.java", JAVA)
    subprocess.run(["javac", "Fib.java"], check=True)
    check_named("Fib.fib", "java", "Fib")
    by_pointers = ["--user-unwind", "fp"]  # as on kernels before 6.18, where no callback names Java's functions
    note = note_of("Java code", "java", "Fib", options=by_pointers)
    options = options_of(note, "java")
    check_named("Fib.fib", "java", *options, "Fib", options=by_pointers)
    pointers = re.search(r"(-XX:\S+) makes its stacks whole", note)[1]
    recording = check_named("Fib.fib", "java", *options, pointers, "Fib", options=by_pointers)
    assert share_with(recording, "JavaCalls::call_helper") > NAMED_SHARE, "the stacks pass through the Java code"
    write("jcmd.sh", JCMD % re.search(r"jcmd PID \S+", note)[0].replace("PID", "$COPROC_PID").rstrip(","))
    check_named("Fib.fib", "bash", "jcmd.sh", options=by_pointers)


@one_of_several
def test_node():
    """Where the callback unwinds, functions have names without advice (test_script_v8.py), and by frame pointers they have none."""
    need_program("node", "nodejs")
    write("fib.js", NODE)
    pointers = ("--user-unwind", "fp")
    note = note_of("Node code", "node", "fib.js", options=pointers)
    check_named("fib", "node", *options_of(note, "node"), "fib.js", options=pointers)


def python_with_perf_support():
    programs = ["python3", *("python3.%d" % minor for minor in range(12, 17)),
                *glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3"))]
    for program in filter(None, map(shutil.which, programs)):
        done = subprocess.run([program, "-c", "import sys; print(sys.version_info >= (3, 12))"], capture_output=True, check=False)
        if done.stdout == b"True\n":
            return program
    raise Skip("no Python 3.12 or newer here")


@one_of_several
def test_python():
    """Functions of these versions have names without advice, and by frame pointers they have none, since Python's own code has no frame pointers."""
    needs("bpf", "perf events")
    program = python_with_perf_support()
    write("fib.py", PYTHON)
    note = note_of("Python code", program, "fib.py", options=("--user-unwind", "fp"))
    check_named("py::fib:", program, *options_of(note, "python3"), "fib.py")


@one_of_several
def test_php():
    need_program("php", "php-cli, php-opcache")
    if "Zend OPcache" not in subprocess.run(["php", "-m"], capture_output=True, text=True, check=False).stdout:
        raise Skip("php has no opcache here (Debian package php-opcache)")
    write("fib.php", PHP)
    os.utime("fib.php", (1e9, 1e9))  # opcache leaves files alone that changed within 2 s (opcache.file_update_protection)
    compiling = ["-d", "opcache.enable_cli=1", "-d", "opcache.jit_buffer_size=64M", "-d", "opcache.jit=function"]
    note = note_of("PHP code", "php", *compiling, "fib.php")
    check_named("JIT$fib", "php", *options_of(note, "php"), "fib.php")


@one_of_several
def test_erlang():
    need_program("erlc", "erlang-base, erlang-dev")
    write("fib.erl", ERLANG)
    subprocess.run(["erlc", "fib.erl"], check=True)
    start = ["-noshell", "-s", "fib", "main"]
    check_named("fib:fib/1", "erl", *options_of(note_of("Erlang code", "erl", *start), "erl"), *start)


@one_of_several
def test_dotnet():
    """The note's variable, of a program that obeys it as the runtime does."""
    needs("bpf", "perf events")
    shutil.copy(program("machine_code"), "dotnet")
    write("dotnet.sh", DOTNET % (CALLS, CALLS))
    variable = re.search(r"(\S+=\S+) in its environment .*names", note_of(".NET code", "sh", "dotnet.sh"))[1]
    check_named("generated code", "env", variable, "sh", "dotnet.sh")


@one_of_several
def test_other_runtimes():
    needs("bpf", "perf events")
    code = program("machine_code")
    note = note_of("generated code", code, "jit", CALLS)
    assert "a perf map (/tmp/perf-PID.map) or a jitdump" in note, note
    for written in "jit_map", "jit_dump":
        check_named("generated code", code, written, CALLS)


def check_nothing_is_advised(code, *command):
    """No option of the program brings names, and the note says so."""
    note = note_of(code, *command)
    assert "reads no functions of scripts" in note and not re.search(r"\s-|=", note), note


@one_of_several
def test_ruby():
    need_program("ruby", "ruby")
    write("fib.rb", RUBY)
    version = subprocess.run(["ruby", "-e", "print RUBY_VERSION"], capture_output=True, text=True, check=True).stdout
    if re.match(r"3\.[1234]\.", version):
        check_named("fib", "ruby", "fib.rb")
    else:
        check_nothing_is_advised("Ruby code", "ruby", "fib.rb")


@one_of_several
def test_perl():
    need_program("perl", "perl")
    write("fib.pl", PERL)
    version = subprocess.run(["perl", "-MConfig", "-e", "print $Config{version}, $Config{usethreads} // 0"], capture_output=True, text=True, check=True).stdout
    if re.match(r"5\.(36|40|42)\..*define", version):
        check_named("fib", "perl", "fib.pl")
    else:
        check_nothing_is_advised("Perl code", "perl", "fib.pl")


if __name__ == "__main__":
    main(globals())
