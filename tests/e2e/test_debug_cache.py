#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What reports keep of debug information: names stay the same with and without, whatever happens to the files."""

import os
import random
import re
import shutil
import subprocess
import tempfile

from harness.cases import STACKMAP, Skip, main, run, stackmap
from harness.inlined_program import INLINED, build, hottest, record_calls, split

DEBUG = "kept.debug"


def made_kept(keep="-S"):
    """A recording; its cache is that of this test."""
    build("kept")
    split("kept", keep)
    made = record_calls("kept")
    os.environ["XDG_CACHE_HOME"] = os.path.abspath("cache")
    return made


def cached(made):
    """The file of the program."""
    names(made)
    build_id = re.search(r"Build ID: (\w+)", run("readelf", "-n", "kept").stdout).group(1)
    return os.path.join("cache", "stackmap", "debug", build_id)


def names(made, *options, **more):
    return hottest(stackmap("report", "--json", *options, made.path, **more).stdout)


def is_nameless(found):
    return found[0].startswith("kept+0x")


def section(name):
    """Where it is in the debug file, and its size."""
    found = re.search(r" \%s +PROGBITS +\w+ (\w+) (\w+)" % name, run("readelf", "-SW", DEBUG).stdout)
    return int(found.group(1), 16), int(found.group(2), 16)


def wipe_dwarf():
    """Same size, same time: whoever reads it finds nothing, whoever looks at the file sees no change."""
    place, size = section(".debug_info")
    before = os.stat(DEBUG)
    with open(DEBUG, "r+b") as file:
        file.seek(place)
        file.write(bytes(size))
    os.utime(DEBUG, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_second_report_reads_no_dwarf():
    made = made_kept()
    assert names(made) == INLINED
    lines = made.read("script", "--lines")
    wipe_dwarf()
    assert names(made, "--no-cache")[:2] == INLINED[1:]
    assert names(made) == INLINED
    os.unlink(DEBUG)
    assert is_nameless(names(made, "--no-cache"))
    assert names(made) == INLINED
    assert made.read("script", "--lines") == lines
    os.unlink("kept")
    assert names(made) == INLINED


def test_other_debug_information_is_read():
    made = made_kept()
    assert names(made) == INLINED
    wipe_dwarf()
    os.utime(DEBUG)
    assert names(made)[:2] == INLINED[1:]


def test_nothing_is_kept_of_nothing():
    made = made_kept()
    os.rename(DEBUG, "away")
    assert is_nameless(names(made))
    os.rename("away", DEBUG)
    assert names(made) == INLINED


def test_nothing_is_kept_of_symbols_alone():
    """Else no server would be asked for the rest."""
    made = made_kept("-g")
    os.rename(DEBUG, "away")
    assert names(made)[:2] == INLINED[1:]
    assert not os.path.exists(cached(made))
    os.rename("away", DEBUG)
    assert os.path.exists(cached(made))


def test_nothing_is_kept_of_damaged_debug_information():
    """Each report says so."""
    made = made_kept()
    with open(DEBUG, "r+b") as file:
        file.seek(section(".debug_info")[0])
        file.write(b"\xf1\xff\xff\xff")  # a length that is reserved
    for _ in range(2):
        notes = stackmap("report", "--json", made.path).stderr
        assert re.search("kept.debug: .*damaged", notes), notes


def test_no_cache():
    made = made_kept()
    assert names(made, "--no-cache") == INLINED
    assert not os.path.exists("cache")
    os.environ["XDG_CACHE_HOME"] = "relative"
    os.environ["HOME"], home = os.path.abspath("home"), os.environ["HOME"]
    try:
        os.mkdir("home")
        assert names(made) == INLINED
        assert os.listdir("home/.cache/stackmap/debug") and not os.path.exists("relative")
        del os.environ["HOME"]
        assert names(made) == INLINED
    finally:
        os.environ["HOME"] = home


def use_folder(prepare):
    """The report of a recording whose cache folder is made so, in which nothing may be written."""
    made = made_kept()
    assert names(made) == INLINED
    prepare()
    before = os.path.exists("cache") and sorted(os.listdir("cache"))
    os.unlink(DEBUG)
    found = names(made)
    assert (os.path.exists("cache") and sorted(os.listdir("cache"))) == before
    return found


def test_a_folder_that_others_may_write():
    assert is_nameless(use_folder(lambda: os.chmod("cache/stackmap/debug", 0o770)))


def test_a_file_that_others_may_write():
    assert is_nameless(use_folder(lambda: run("sh", "-c", "chmod g+w cache/stackmap/debug/*")))


def test_a_folder_of_another_user():
    if os.geteuid():
        raise Skip("making one takes root")
    assert is_nameless(use_folder(lambda: os.chown("cache/stackmap/debug", 65534, 65534)))


def test_nothing_is_made_in_the_home_of_another():
    if os.geteuid():
        raise Skip("making one takes root")

    def give_away():
        shutil.rmtree("cache/stackmap/debug")
        os.chown("cache", 65534, 65534)

    assert is_nameless(use_folder(give_away))


def test_no_folder_and_no_file():
    def move(path, make):
        os.rename(path, "moved")
        make(path)

    links = lambda path: os.symlink(os.path.abspath("moved"), path)
    for make in os.mkfifo, links, lambda path: os.symlink("/dev/zero", path), lambda path: open(path, "wb").close():
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            assert is_nameless(use_folder(lambda: move("cache/stackmap/debug", make)))
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            made = made_kept()
            path = cached(made)
            move(path, make)
            assert names(made) == INLINED
            os.unlink(DEBUG)
            assert names(made) == INLINED, "it was not replaced"


def test_no_room():
    made = made_kept()
    done = run("sh", "-c", "ulimit -f 0; exec \"$@\"", "sh", STACKMAP, "report", "--json", made.path)
    assert hottest(done.stdout) == INLINED and not done.stderr, done.stderr
    assert not os.listdir("cache/stackmap/debug")


def test_damaged_files():
    """With the debug file all names come, without it none or all."""
    made = made_kept()
    path = cached(made)
    with open(path, "rb") as file:
        whole = file.read()
    random.seed(1)
    damaged = [whole[:length] for length in random.sample(range(len(whole)), 10)]
    for at in random.sample(range(len(whole)), 30):
        damaged.append(whole[:at] + bytes([whole[at] ^ 1 << random.randrange(8)]) + whole[at + 1:])
    damaged.append(whole + b"\0")
    for data in damaged:
        with open(path, "wb") as file:
            file.write(data)
        os.rename(DEBUG, "away")
        assert is_nameless(names(made))
        os.rename("away", DEBUG)
        assert names(made) == INLINED
    os.unlink(DEBUG)
    assert names(made) == INLINED, "the damaged file was not replaced"


def test_many_reports_at_once():
    made = made_kept()
    for _ in range(5):
        shutil.rmtree("cache", ignore_errors=True)
        processes = [subprocess.Popen([STACKMAP, "report", "--json", made.path], stdout=subprocess.PIPE)
                     for _ in range(6)]
        assert all(hottest(process.communicate()[0]) == INLINED for process in processes)
    assert all("." not in name for name in os.listdir("cache/stackmap/debug"))
    os.unlink(DEBUG)
    assert names(made) == INLINED


if __name__ == "__main__":
    main(globals())
