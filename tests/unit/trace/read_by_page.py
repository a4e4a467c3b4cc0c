#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks stackmap-data(5): a reader written from the page alone finds in a recording what the library finds.

read_by_page.py SEEDER DUMPER: the seeds are read both ways and compared.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

from page_reader import Recording

PAGE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "man" / "stackmap-data.5"
OF_LATER_VERSIONS = {12, 13, 14, 15, 16}  # kinds of blocks: times, contexts, losses, processes, attributes


def first_versions():
    """By kind of block: the first version that has such blocks."""
    lines = re.findall(r"^\.It (\d+) Ta .* only from version (\d+) on$", PAGE.read_text(), re.M)
    found = {int(kind): int(version) for kind, version in lines}
    assert set(found) == OF_LATER_VERSIONS, found
    return found


def main(seeder, dumper):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([seeder, folder], check=True)
        seeds = sorted(pathlib.Path(folder).iterdir())
        assert seeds
        first = first_versions()
        for seed in seeds:
            recording = Recording()
            recording.read(seed.read_bytes())
            for kind in recording.kinds:
                assert recording.version >= first.get(kind, 0), f"{seed.name}: block {kind} in version {recording.version}"
            wanted = subprocess.run([dumper, seed], check=True, capture_output=True, text=True).stdout
            got = recording.text()
            for ours, theirs in zip(got, wanted.splitlines()):
                assert ours == theirs, f"{seed.name}: {ours!r} != {theirs!r}"
            assert len(got) == len(wanted.splitlines())
            print(f"{seed.name}: {len(got)} lines agree")


main(*sys.argv[1:])
