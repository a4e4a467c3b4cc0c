#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""What a recorder waits out: ten seconds in which nothing else happens, so this runs beside other tests."""

from cases import main
from test_privileges import (check_one_file_unread, end_with_stopped_sandbox, kernel_and_user_names, needs_root,
                             recording_of_ls, wait_for_sleep)


def test_a_parser_that_never_answers_costs_the_names_of_one_file():
    needs_root()
    with recording_of_ls() as recorder:
        wait_for_sleep(recorder)
        made = end_with_stopped_sandbox(recorder, None)
    check_one_file_unread(made)
    assert any(kernel_and_user_names(made)), "nothing has a name"


if __name__ == "__main__":
    main(globals())
