#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A process falsifies its unwind tables and stacks while it is recorded: it survives and does its work, the recorder
survives, the ledger adds up, and an honest run of the same program at the same time has complete stacks."""

from harness.cases import main, needs, one_of_several, program
from harness.recording import record, second_half, user_frames

WHOLE_LEAST = 0.995
BOTH = '"$0" honest & honest=$!; echo $honest >honest.pid; "$0" "$1" && wait $honest'


def lie(mode):
    """The command's exit status says whether its results are right."""
    needs("bpf", "perf events")
    recording = record("-a", "-F", 999, "--", "sh", "-c", BOTH, program("hostile"), mode)
    with open("honest.pid", encoding="ascii") as pid:
        honest = int(pid.read())
    ledger = recording.check()
    assert ledger["recorded"] > 0 and not any(ledger["lost"].values()), ledger
    events = [event for event in recording.events() if event.tid == honest and user_frames(event)]
    later = second_half(events)
    whole = [event for event in later if user_frames(event)[-1].name.startswith("_start")]
    assert len(events) > 50 and len(whole) >= WHOLE_LEAST * len(later), (len(whole), len(later), len(events))


@one_of_several
def test_random_tables():
    lie("random")


@one_of_several
def test_an_index_of_itself():
    lie("self")


@one_of_several
def test_an_unsorted_index():
    lie("unsorted")


@one_of_several
def test_functions_that_overlap():
    lie("overlap")


@one_of_several
def test_tables_of_the_c_library():
    lie("poison")


@one_of_several
def test_sframe_functions_out_of_order():
    lie("sframe_unsorted")


@one_of_several
def test_sframe_functions_that_overlap():
    lie("sframe_overlap")


@one_of_several
def test_sframe_with_wrong_cfas():
    lie("sframe_cfa")


@one_of_several
def test_sframe_whose_rows_end_early():
    lie("sframe_truncated")


@one_of_several
def test_loops():
    lie("loop")


@one_of_several
def test_unmapped_tables():
    lie("unmap")


main(globals())
