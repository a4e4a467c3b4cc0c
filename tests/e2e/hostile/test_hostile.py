#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A process falsifies its unwind tables and stacks while it is recorded: it survives and does its work, the recorder
survives, the ledger adds up, and an honest run of the same program at the same time has complete stacks."""

from harness.cases import main, needs, repeat_case_if_it_fails, program
from harness.recording import record, later_half_of_events, user_frames

WHOLE_LEAST = 0.995
BOTH = '"$0" honest & honest=$!; echo $honest >honest.pid; "$0" "$1" && wait $honest'


def unwind_with_false_tables(mode):
    """The command's exit status says whether its results are right."""
    needs("bpf", "perf events")
    recording = record("-a", "-F", 999, "--", "sh", "-c", BOTH, program("hostile"), mode)
    with open("honest.pid", encoding="ascii") as pid:
        honest = int(pid.read())
    ledger = recording.check()
    assert ledger["recorded"] > 0 and not any(ledger["lost"].values()), ledger
    events = [event for event in recording.events() if event.tid == honest and user_frames(event)]
    later = later_half_of_events(events)
    whole = [event for event in later if user_frames(event)[-1].name.startswith("_start")]
    assert len(events) > 50 and len(whole) >= WHOLE_LEAST * len(later), (len(whole), len(later), len(events))


@repeat_case_if_it_fails
def test_random_tables():
    unwind_with_false_tables("random")


@repeat_case_if_it_fails
def test_an_index_of_itself():
    unwind_with_false_tables("self")


@repeat_case_if_it_fails
def test_an_unsorted_index():
    unwind_with_false_tables("unsorted")


@repeat_case_if_it_fails
def test_functions_that_overlap():
    unwind_with_false_tables("overlap")


@repeat_case_if_it_fails
def test_tables_of_the_c_library():
    unwind_with_false_tables("poison")


@repeat_case_if_it_fails
def test_sframe_functions_out_of_order():
    unwind_with_false_tables("sframe_unsorted")


@repeat_case_if_it_fails
def test_sframe_functions_that_overlap():
    unwind_with_false_tables("sframe_overlap")


@repeat_case_if_it_fails
def test_sframe_with_wrong_cfas():
    unwind_with_false_tables("sframe_cfa")


@repeat_case_if_it_fails
def test_sframe_whose_rows_end_early():
    unwind_with_false_tables("sframe_truncated")


@repeat_case_if_it_fails
def test_loops():
    unwind_with_false_tables("loop")


@repeat_case_if_it_fails
def test_unmapped_tables():
    unwind_with_false_tables("unmap")


main(globals())
