#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A recorder does not wait for a parser without an end."""

from harness.cases import main, one_of_several
from harness.sandbox import end_with_stopped_sandbox, needs_root, recording_of_ls, wait_for_sleep


@one_of_several
def test_a_parser_that_never_answers_is_not_waited_for():
    """After two signals the recording ends: the file has no names, and says so."""
    needs_root()
    with recording_of_ls() as recorder:
        wait_for_sleep(recorder)
        made = end_with_stopped_sandbox(recorder, None)
    assert made.check()["recorded"] > 0
    assert "files without names" in made.messages, made.messages


if __name__ == "__main__":
    main(globals())
