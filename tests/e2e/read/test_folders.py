#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A folder of recordings is one recording for all commands that read one: the one that `merge` makes of them. Other files in
the folder, of any owner, are left out; damage is reported, and the rest is shown."""

import json
import os
import shutil

from harness.cases import main, program, run, stackmap
from harness.exportable import WRITE_SMALL

FAILED = 1


def make_folder():
    """Two recordings of one host and one of another; the last as a rotation leaves it behind."""
    os.mkdir("all")
    run(program("write_views"), 100, 300, "all/views.data")
    run(program("write_flames"), 1, 60, 400, "all/flames.data")
    run(WRITE_SMALL, "all/small.data.old")
    return sorted("all/" + name for name in os.listdir("all"))


def merged(files):
    stackmap("merge", "-o", "merged.data", *files)
    return "merged.data"


def harm(path):
    """Cut within its last block: its events are whole."""
    os.truncate(path, os.path.getsize(path) - 1)


def without_command(exported):
    whole = json.loads(exported)
    del whole["recording"]["command"]
    return whole


def counts_of_stacks(compared):
    """Each recording of a folder is compared by itself: it has a noise and losses of its own, and names code of its own kernel."""
    whole = json.loads(compared)
    for row in whole["stacks"]:
        del row["noise"], row["kernel"], row["after"]["amount"], row["change"], row["change_percent"]
    return whole


def check_same(folder, file):
    for words in (["report", "--json"], ["report", "--json", "--tree"], ["report", "--csv", "--sort", "pid,cpu"],
                  ["export", "-f", "folded"], ["export", "-f", "perf-script"], ["script"], ["script", "--hashes"]):
        assert stackmap(*words, folder).stdout == stackmap(*words, file).stdout, words
    compared = [counts_of_stacks(stackmap("diff", "--json", "--stacks", "all/views.data", path).stdout) for path in (folder, file)]
    assert compared[0] == compared[1] and compared[0]["stacks"], [
        pair for pair in zip(*(side["stacks"] for side in compared)) if pair[0] != pair[1]][:2]
    exported = [without_command(stackmap("export", "-f", "json", path).stdout) for path in (folder, file)]
    assert exported[0] == exported[1] and exported[0]["stacks"], exported[0]


def test_every_command_reads_the_merge():
    files = make_folder()
    file = merged(files)
    check_same("all", file)
    check_same("all/", file)
    for path, page in ("all", "folder.html"), (file, "file.html"):
        stackmap("flamegraph", "-o", page, path)
        with open(page, encoding="utf-8") as opened:
            text = opened.read()
        data, _ = json.JSONDecoder().raw_decode(text, text.index('{"version":1,'))
        cells = data["cells"][0]
        assert sum(cells["count"]) == json.loads(stackmap("report", "--json", path).stdout)["ledger"]["recorded"], path


def test_counts_add_up():
    files = make_folder()

    def recorded(path):
        report = json.loads(stackmap("report", "--json", path).stdout)
        return report["ledger"]["recorded"], sum(row["count"] for row in report["stacks"])

    numbers = [recorded(path) for path in files]
    assert recorded("all") == tuple(map(sum, zip(*numbers))), (recorded("all"), numbers)


def test_a_folder_is_an_operand_of_merge():
    files = make_folder()
    os.rename("all/views.data", "views.data")
    stackmap("merge", "-o", "folder.data", "views.data", "all")
    stackmap("merge", "-o", "files.data", "views.data", *(path for path in files if os.path.exists(path)))
    assert stackmap("script", "folder.data").stdout == stackmap("script", "files.data").stdout


def test_a_summary_among_them():
    make_folder()
    alone = json.loads(stackmap("report", "--json", "all").stdout)["ledger"]["recorded"]
    run(program("write_views"), 100, 300, 50, "all/summary.data")
    report = json.loads(stackmap("report", "--json", "all").stdout)
    assert report["ledger"]["recorded"] == alone + 50 * 400 == sum(row["count"] for row in report["stacks"]), report["ledger"]
    check_same("all", merged(sorted("all/" + name for name in os.listdir("all"))))


def test_what_is_no_recording_is_left_out():
    """The command does not wait for a FIFO, and opens no device."""
    files = make_folder()
    expected = stackmap("script", merged(files)).stdout
    os.mkfifo("all/fifo")
    os.symlink("fifo", "all/a-link-to-it")
    os.symlink("/dev/zero", "all/device")
    os.symlink("nowhere", "all/dangling")
    os.symlink("circle", "all/circle")
    os.symlink("views.data", "all/views.data.again")
    os.link("all/views.data", "all/views.data.old")
    os.mkdir("all/more")
    shutil.copy("all/views.data", "all/more/views.data")
    shutil.copy("all/views.data", "all/.hidden")
    with open("all/notes\n\033[31m", "w", encoding="ascii") as file:
        file.write("stack")
    done = stackmap("script", "all")
    assert done.stdout == expected and not done.stderr, done.stderr


def test_none_is_said():
    os.mkdir("none")
    with open("none/text", "w", encoding="ascii") as file:
        file.write("no recording")
    for words in (["report"], ["script"], ["export", "-f", "folded"], ["flamegraph", "-o", "f.html"], ["merge", "-o", "f.data"]):
        done = stackmap(*words, "none", status=FAILED)
        assert done.stderr == "stackmap: none: no recording in this folder: none of its files begins as one and can be read\n" \
            and not done.stdout, done
    assert not os.path.exists("f.html") and not os.path.exists("f.data")


def test_damage_of_one_is_said_and_the_rest_is_shown():
    files = make_folder()
    harm("all/flames.data")
    expected = sum(sum(row["count"] for row in json.loads(stackmap("report", "--json", path, status=None).stdout)["stacks"])
                   for path in files)
    done = stackmap("report", "--json", "all", status=FAILED)
    report = json.loads(done.stdout)
    assert sum(row["count"] for row in report["stacks"]) == expected, expected
    lines = done.stderr.splitlines()
    assert any("all/flames.data: damaged at byte" in line or "all/flames.data: ends" in line for line in lines), lines
    assert lines[-1] == "stackmap: all: 1 of its 3 recordings are damaged or cannot be read", lines
    assert "merged.data" not in os.listdir(".")
    done = stackmap("merge", "-o", "merged.data", "all", status=FAILED)
    assert "all/flames.data: " in done.stderr, done.stderr
    merged_rows = json.loads(stackmap("report", "--json", "merged.data").stdout)["stacks"]
    assert sum(row["count"] for row in merged_rows) == expected


def test_what_cannot_be_opened_is_said():
    files = make_folder()
    expected = stackmap("script", merged(files)).stdout
    with open("all/newer.data", "wb") as file:
        file.write(b"stackmap" + bytes(100))
    done = stackmap("script", "all", status=FAILED)
    assert done.stdout == expected, done.stderr
    assert done.stderr.splitlines() == [
        "stackmap: all/newer.data: damaged at byte 0: the file header's checksum is wrong",
        "stackmap: all: 1 of its 4 recordings are damaged or cannot be read"], done.stderr


if __name__ == "__main__":
    main(globals())
