#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Names that the recorder did not have: inlined functions, lines of source, symbols of stripped programs."""

import json
import os
import re
import shutil

from harness.cases import Skip, main, needs, needs_command, one_of_several, program, run, stackmap
from harness.inlined_program import ASK_PARENT, INLINED, build, hottest_names as names, record_calls, split
from harness.recording import Recording, record


def test_inlined_functions():
    build("whole")
    made = record_calls("whole")
    assert names(made) == INLINED
    assert names(made, "--no-inline")[:2] == INLINED[1:]
    assert ";main;outer;inner" in made.read("export", "-f", "folded")
    text = made.read("script")
    assert text.count(" inner (inlined)\n") == 5
    assert text.count(" outer+0x") == 5


def test_lines():
    build("lines")
    made = record_calls("lines")
    text = made.read("script", "--lines")
    path = os.path.realpath("lines.c")
    for function, line in ("inner (inlined)", 3), ("outer+0x", 5), ("main+0x", 7):
        _, found, below = text.partition(" " + function)
        assert found and below.split("\n")[1] == "  %s:%d" % (path, line), text
    text = made.read("script", "-l", "--no-inline")
    assert "inlined" not in text and "  %s:3\n" % path in text, text


def test_stripped_program():
    build("bare")
    split("bare")
    made = record_calls("bare")
    assert all(name.startswith("bare+0x") for name in names(made, "--no-inline")[:2])
    assert names(made) == INLINED
    os.makedirs("system" + os.getcwd())
    shutil.move("bare.debug", "system" + os.getcwd())
    assert names(made)[0].startswith("bare+0x")
    assert names(made, "--sysroot", "system") == INLINED
    shutil.move("bare", "system" + os.getcwd())
    assert names(made, "--sysroot", "system") == INLINED


def install_by_id(name):
    """The debug file, below system/, where a package would put it."""
    build_id = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", name + ".debug").stdout)[1]
    folder = "system/usr/lib/debug/.build-id/" + build_id[:2]
    os.makedirs(folder, exist_ok=True)
    shutil.move(name + ".debug", "%s/%s.debug" % (folder, build_id[2:]))


def test_program_that_is_gone_or_replaced():
    """Its debug file is enough: the recording says where its code lies."""
    for name, options in ("gone", []), ("elsewhere", ["-no-pie", "-Wl,-Ttext-segment=0x10000000"]):
        build(name, *options)
        split(name)
        made = record_calls(name)
        install_by_id(name)
        assert names(made, "--sysroot", "system") == INLINED
        os.remove(name)
        assert names(made, "--sysroot", "system") == INLINED
        stackmap("merge", "-o", "merged.data", made.path, made.path)
        assert "outer;inner" in stackmap("export", "-f", "folded", "--sysroot", "system", "merged.data").stdout
        build("other")
        shutil.move("other", name)
        assert names(made, "--sysroot", "system") == INLINED
        assert names(made)[0].startswith(name + "+0x")


CALLS = """
#define ASK do { """ + ASK_PARENT + """ } while (0)
__attribute__((noinline)) void first(void) { ASK; ASK; ASK; __asm__ volatile("nop"); }
__attribute__((noinline)) void second(void) { ASK; first(); ASK; __asm__ volatile("nop"); }
int main(void) { for (int i = 0; i < 4; i++) second(); return 0; }
"""


def symbol_rows(made):
    rows = json.loads(made.read("report", "--json", "--sort", "dso,symbol"))["rows"]
    return {row["symbol"]: row["children"]["count"] for row in rows if row["dso"].endswith("/rows")}


def test_stripped_function_is_one_row():
    """Wherever in it an event was: the unwind table tells where it begins and ends."""
    needs_command("gcc", "--version")
    with open("rows.c", "w", encoding="ascii") as file:
        file.write(CALLS)
    run("gcc", "-O2", "-Wl,--build-id", "rows.c", "-o", "rows")
    symbols = {name: (int(start, 16), int(size, 16)) for start, size, name in
               re.findall(r"^(\w+) (\w+) T (\w+)$", run("nm", "-S", "rows").stdout, re.MULTILINE)}
    run("strip", "rows")
    made = record_calls("rows")
    expected = {"rows+0x%x..0x%x" % (symbols[name][0], sum(symbols[name])): counts
                for name, counts in (("first", 12), ("second", 20), ("main", 20))}
    rows = symbol_rows(made)
    assert {name: rows.get(name) for name in expected} == expected, (rows, expected)
    stackmap("merge", "-o", "merged.data", made.path)
    assert symbol_rows(Recording("merged.data")) == rows
    folded = made.read("export", "-f", "folded")
    assert ";".join(list(expected)[::-1]) in folded, folded
    stackmap("flamegraph", "-o", "page.html", made.path)
    with open("page.html", encoding="ascii") as file:
        page = file.read()
    assert all(page.count('"%s"' % name) == 1 for name in expected)


@one_of_several
def test_stripped_program_of_the_distribution():
    """Few places of code are in no function that the unwind table knows."""
    awk = shutil.which("gawk") or shutil.which("mawk")
    if not awk:
        raise Skip("neither gawk nor mawk is installed")
    needs("bpf", "perf events")
    made = record("-F", "1999", "--", awk, "BEGIN { for (i = 0; i < 600000; i++) { a[i % 999] = a[i % 99] i; gsub(1, 2, a[i % 999]); "
                  "if (length(a[i % 999]) > 40) a[i % 999] = \"\" } }")
    dso = os.path.realpath(awk)
    rows = json.loads(made.read("report", "--no-inline", "--json", "--sort", "dso,symbol"))["rows"]
    counts = {row["symbol"]: row["self"]["count"] for row in rows if row["dso"] == dso and row["self"]["count"]}
    places = sum(count for name, count in counts.items() if re.search(r"\+0x[0-9a-f]+$", name))
    if sum(counts.values()) < 50:
        raise Skip("too few samples of %s: %d" % (awk, sum(counts.values())))
    assert places <= sum(counts.values()) / 50, counts


def missing(made, name, *options):
    """The row of a program's file in `report --missing`."""
    report = json.loads(stackmap("report", "--missing", "--json", *options, made.path).stdout)
    return next((file for file in report["missing"] if file["file"].endswith("/" + name)), None), report


def check_missing(made, name, reason, *options):
    file, report = missing(made, name, *options)
    assert file and file["reason"] == reason and file["why"], (reason, report)
    assert file["children"] == {"count": 5, "percent": 100.0} and report["events"] == 5, report
    text = made.read("report", "--missing", *options)
    build_id = "        build id: %s\n" % file["build_id"] if file["build_id"] else ""
    assert "/%s\n%s        why: %s\n" % (name, build_id, file["why"]) in text, text
    return file


def test_missing_names_and_why():
    build("missing")
    build_id = re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", "missing").stdout)[1]
    split("missing")
    os.rename("missing.debug", "kept.debug")
    made = record_calls("missing")
    file = check_missing(made, "missing", "stripped")
    assert file["build_id"] == build_id and file["places"] >= 2 and "debug symbols" in file["fix"], file
    assert check_missing(made, "missing", "not_looked", "--no-inline")["fix"] == "leave out --no-inline"
    shutil.copy("/bin/true", "missing")
    check_missing(made, "missing", "replaced")
    os.remove("missing")
    check_missing(made, "missing", "gone")
    os.rename("kept.debug", "missing.debug")
    install_by_id("missing")
    assert not missing(made, "missing", "--sysroot", "system")[0]
    stackmap("report", "--missing", "--csv", made.path, status=2)
    stackmap("report", "--missing", "--tree", made.path, status=2)


def test_missing_build_id():
    build("anonymous", "-Wl,--build-id=none")
    run("strip", "anonymous")
    file = check_missing(record_calls("anonymous"), "anonymous", "no_id")
    assert file["build_id"] == "" and "--build-id" in file["fix"], file


def test_image_of_graalvm():
    """A part of the file that these images alone have. Some have no build id."""
    for name, build_id in ("image", "sha1"), ("bare_image", "none"):
        build(name, "-Wl,--build-id=" + build_id)
        run("objcopy", "--strip-all", "--add-section", ".svm_heap=" + name, name)
        file = check_missing(record_calls(name), name, "graalvm")
        assert not file["fix"] and "native image of GraalVM" in file["why"], file
    build("named_image", "-Wl,--build-id=none")
    run("objcopy", "--strip-symbol=main", "--strip-symbol=outer", "--add-section", ".svm_heap=named_image", "named_image")
    assert "--build-id" in check_missing(record_calls("named_image"), "named_image", "no_id")["fix"]


def test_missing_package():
    awk = os.path.realpath(shutil.which("mawk") or "/usr/bin/missing")
    if not os.path.exists(awk) or run("dpkg", "-S", awk, status=None).returncode:
        raise Skip("mawk is not here, or no package of Debian's")
    needs("bpf", "raw tracepoints")
    made = record("-e", "syscalls:sys_enter_write", "--", awk, "BEGIN { print 1 }")
    file, _ = missing(made, os.path.basename(awk))
    if file["reason"] != "stripped":
        raise Skip("the debug symbols of mawk are here")
    assert "mawk-dbgsym" in file["fix"], file


def test_a_word_about_missing_names():
    """About user code that events end in: what ends in the kernel has its name there."""
    build("told")
    run("strip", "told")
    assert "without a name" not in stackmap("report", record_calls("told").path).stderr
    needs("perf events")
    made = record("-e", "page-faults", "--", "./told")
    stacks = [(stack["kernel"] + stack["user"], stack["count"]) for stack in made.report()["stacks"]]
    nameless = sum(count for names, count in stacks if names and re.search(r"\+0x", names[0]))
    share = nameless / made.ledger()["recorded"]
    said = re.findall(r"(\d+)% of the events end in user code without a name", stackmap("report", "--no-inline", made.path).stderr)
    assert said == (["%.0f" % (100 * share)] if share >= 0.1 else []), (said, stacks)


def test_another_build():
    build("changed")
    made = record_calls("changed")
    assert names(made) == INLINED
    run("gcc", "-O1", "-g", "-Wl,--build-id", "changed.c", "-o", "changed")
    assert names(made)[:2] == INLINED[1:]


def test_damaged_debug_file():
    build("damaged")
    split("damaged")
    made = record_calls("damaged")
    with open("damaged.debug", "r+b") as file:
        data = file.read()
        for at in range(400, len(data), 97):
            file.seek(at)
            file.write(b"\xff")
    assert len(names(made)) == 3
    with open("damaged.debug", "wb") as file:
        file.write(data[:1000])
    assert names(made)[0].startswith("damaged+0x")


def test_sections_compressed_with_zstd():
    build("packed")
    if run("objcopy", "--compress-debug-sections=zstd", "packed", status=None).returncode:
        raise Skip("this objcopy does not compress with zstd")
    made = record_calls("packed")
    assert names(made) == INLINED
    assert not stackmap("report", made.path).stderr


def test_debug_information_that_cannot_be_used():
    for name, option, why in (("split", "-gsplit-dwarf", ".dwo, .dwp"), ("proofless", "-Wl,--build-id=none", "it has no build id")):
        build(name, option)
        made = record_calls(name)
        assert names(made)[:2] == INLINED[1:]
        for options in [], ["--missing"]:
            said = stackmap("report", *options, made.path).stderr
            assert "/%s: its debug information is not used: " % name in said and why in said, said
        run("strip", name)
        assert "not used" not in stackmap("report", record_calls(name).path).stderr


def test_files_that_the_user_names():
    build("named")
    made = record_calls("named")
    for option, words in ("--sysroot", "No such file"), ("--vmlinux", "No such file"), ("--kallsyms", "No such file"):
        done = stackmap("report", option, "missing", made.path, status=1)
        assert words in done.stderr and not done.stdout, done
    done = stackmap("report", "--kallsyms", "named.c", made.path, status=1)
    assert "named.c" in done.stderr, done.stderr
    done = stackmap("report", "--vmlinux", "named", made.path)
    assert "not the recorded kernel" in done.stderr or "kernel" not in done.stdout, done.stderr


KALLSYMS = """ffffffff81000000 T _stext
ffffffff81000000 T kept_name
ffffffff81000100 T _etext
"""


SYMBOLS = 7  # type of block, as stackmap-data(5) has it


def cut_before_symbols(path):
    """Cuts a recording like that of a killed recorder."""
    with open(path, "rb") as file:
        data = file.read()
    at = 16
    while data[at + 8] != SYMBOLS:
        at += 48 + int.from_bytes(data[at + 16:at + 20], "little")
    os.truncate(path, at)


def test_a_recording_that_was_not_finished():
    """Its kernel functions have no names, and how they get some is said, once."""
    build("killed")
    made = record_calls("killed")
    named = {name for stack in made.report()["stacks"] for name in stack["kernel"]}
    if not any(name.startswith("do_syscall") for name in named):
        raise Skip("kernel addresses are hidden here: %s" % named)
    assert "was not finished" not in stackmap("report", made.path).stderr
    cut_before_symbols(made.path)
    for command in ["report", "--json"], ["script"], ["export"], ["flamegraph", "-o", "page.html"], ["diff", made.path]:
        said = stackmap(*command, made.path, status=1).stderr
        times = 2 if "diff" in command else 1
        assert said.count("was not finished, so kernel functions have no names;") == times and "--kallsyms" in said, said
    done = stackmap("report", "--json", "--no-inline", "--kallsyms", "/proc/kallsyms", made.path, status=1)
    assert {name for stack in json.loads(done.stdout)["stacks"] for name in stack["kernel"]} == named
    assert "have no names" not in done.stderr, done.stderr


def test_kallsyms_of_one_boot():
    """No recording has the kernel's address: only their times distinguish boots."""
    with open("kallsyms", "w", encoding="ascii") as file:
        file.write(KALLSYMS)
    for name, later in ("first", 0), ("same", 1), ("other", 3600):
        run(program("write_odd"), "only-kernel", name, later)
    for command in ["report", "first"], ["report", "other"], ["diff", "--json", "first", "same"], ["flamegraph", "-o-", "first", "same"]:
        done = stackmap(*command, "--kallsyms", "kallsyms")
        assert "kept_name" in done.stdout and "not used" not in done.stderr, (command, done)
    for command in ["diff", "--json", "first", "other"], ["flamegraph", "-o-", "first", "other"]:
        done = stackmap(*command, "--kallsyms", "kallsyms")
        assert "kept_name" not in done.stdout, command
        assert done.stderr.count("stackmap: kallsyms: not used for the recording of 20") == 2, done.stderr


def test_files_that_are_not_used():
    build("unused")
    made = record_calls("unused")
    for option, value in ("--vmlinux", "unused"), ("--sysroot", "."):
        done = stackmap("report", "--no-inline", option, value, made.path)
        assert done.stderr == "stackmap: %s is not used: --no-inline reads no debug information\n" % option, done.stderr
    assert not stackmap("script", "--no-inline", "--lines", "--sysroot", ".", made.path).stderr


if __name__ == "__main__":
    main(globals())
