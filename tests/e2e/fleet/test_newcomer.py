#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The ten minutes of docs/fleet.md as a newcomer copies them: the server's user `default`, the example file with nothing changed
but where the store is, and the commands as they stand there."""

import pathlib
import re
import shlex

from harness.cases import main, stackmap
from harness.clickhouse import FreshServer, clickhouse

SOURCE = pathlib.Path(__file__).resolve().parents[3]
GUIDE = SOURCE / "docs" / "fleet.md"
EXAMPLE = SOURCE / "systemd" / "agent.conf"
PLACE = "STORE:8123"
SOON = ["--window", "1", "--batch", "1", "--once", "1", "--spool", "spool"]


def commands():
    """Those of `stackmap` in the guide's first part, as lists of words."""
    part = re.search(r"^## Ten minutes.*?(?=^## )", GUIDE.read_text(), re.S | re.M).group()
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", part, re.S | re.M))
    edits = [line for line in blocks.splitlines() if line.startswith("sed -i")]
    assert len(edits) == 1 and "s/%s/" % PLACE in edits[0], edits
    return [shlex.split(line, comments=True)[1:] for line in blocks.splitlines() if line.startswith("stackmap ")]


def test_the_guide_works_as_it_stands():
    asked = commands()
    assert [words[0] for words in asked] == ["store", "hosts", "flamegraph"], asked
    with clickhouse(kind=FreshServer) as (server,):
        place = "127.0.0.1:%d" % server.port
        first, *others = [[word.replace(PLACE, place) for word in words] for words in asked]
        pathlib.Path("agent.conf").write_text(EXAMPLE.read_text().replace(PLACE, place))
        stackmap(*first)
        said = stackmap("agent", "--config", "agent.conf", *SOON).stderr
        assert "; 0 in the spool" in said, said
        host, labels = server.ask("SELECT host, labels FROM stackmap.hosts")[0]
        assert "rack" not in labels, labels
        shown = [stackmap(*words).stdout for words in others]
        assert host in shown[0] and pathlib.Path("flamegraph.html").stat().st_size, shown


def test_each_example_is_an_option():
    """All commented-out lines of the example file together are valid options."""
    text = re.sub(r"^#(?=[a-z-]+( = |$))", "", EXAMPLE.read_text(), flags=re.M)
    text = text.replace(PLACE, "127.0.0.1:1")
    pathlib.Path("password").write_text("secret\n")
    pathlib.Path("password").chmod(0o600)
    for option, value in (("password-file", "password"), ("exemplars", "exemplars")):
        text, count = re.subn(r"^%s = .*$" % option, "%s = %s" % (option, value), text, flags=re.M)
        assert count == 1, (option, text)
    assert not re.search(r"^#[a-z-]+( =|$)", text, re.M) and "off-cpu\n" in text, text
    pathlib.Path("agent.conf").write_text(text)
    said = stackmap("agent", "--config", "agent.conf", *SOON).stderr
    assert "1 windows" in said, said


main(globals())
