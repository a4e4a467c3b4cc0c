#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Checks stackmap-data(5): a reader written from the page alone finds in a recording what the library finds.

read_by_page.py SEEDER DUMPER: the seeds are read both ways and compared.
"""
import pathlib
import subprocess
import sys
import tempfile

from page_reader import Recording


def main(seeder, dumper):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([seeder, folder], check=True)
        seeds = sorted(pathlib.Path(folder).iterdir())
        assert seeds
        for seed in seeds:
            recording = Recording()
            recording.read(seed.read_bytes())
            wanted = subprocess.run([dumper, seed], check=True, capture_output=True, text=True).stdout
            got = recording.text()
            for ours, theirs in zip(got, wanted.splitlines()):
                assert ours == theirs, f"{seed.name}: {ours!r} != {theirs!r}"
            assert len(got) == len(wanted.splitlines())
            print(f"{seed.name}: {len(got)} lines agree")


main(*sys.argv[1:])
