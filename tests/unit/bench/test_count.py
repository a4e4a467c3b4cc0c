#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The limits of bench/count, and what it takes from two boots."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import sys
import unittest

sys.dont_write_bytecode = True
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../bench/count")
LOADER = importlib.machinery.SourceFileLoader("count", PATH)
count = importlib.util.module_from_spec(importlib.util.spec_from_loader("count", LOADER))
LOADER.exec_module(count)

STEP = "workload bpf bpf: direct_step"


def counts(total=1000000000, switch=12000, step=20000000):
    return {"made with": {}, "figures": {"true, everything beside the workload": {"stackmap": total}, count.SWITCH: {"stackmap": switch}},
            "functions": {count.STEADY: {STEP: step}}}


def compared(now):
    """(verdict, text) beside counts()."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        return count.compare("6.19", now, counts()), text.getvalue()


class Compare(unittest.TestCase):
    def test_nothing_is_said_within_the_limits(self):
        self.assertEqual(compared(counts(1009000000, 12230, 20390000)), (False, ""))

    def test_a_function_with_more_than_two_per_cent_more_is_named(self):
        is_worse, text = compared(counts(step=20420000))
        self.assertTrue(is_worse)
        self.assertIn(f"6.19: pipe: {STEP}: 20.00 M -> 20.42 M (+2.1 %)", text)

    def test_totals_and_switches_have_limits_of_their_own(self):
        self.assertTrue(compared(counts(total=1011000000))[0])
        self.assertTrue(compared(counts(switch=12250))[0])

    def test_what_the_baseline_has_must_be_counted(self):
        now = counts()
        del now["figures"][count.SWITCH]
        now["functions"][count.STEADY] = {"workload bpf bpf: renamed": 20000000}
        self.assertEqual(count.uncounted(now, counts()), [count.SWITCH, STEP])
        self.assertEqual(count.uncounted(counts(), counts()), [])

    def test_less_is_said_and_is_no_failure(self):
        is_worse, text = compared(counts(total=900000000))
        self.assertFalse(is_worse)
        self.assertIn("1.00 G -> 900.00 M (-10.0 %)", text)


class LeastOf(unittest.TestCase):
    def test_each_count_is_the_lower_one(self):
        self.assertEqual(count.least_of(counts(switch=12400, step=20000000), counts(switch=12000, step=23000000)), counts())

    def test_what_one_boot_lacks_is_taken_from_the_other(self):
        again = counts()
        again["functions"][count.STEADY] = {"workload bpf bpf: other": 7}
        self.assertEqual(count.least_of(counts(), again)["functions"][count.STEADY], {STEP: 20000000, "workload bpf bpf: other": 7})


if __name__ == "__main__":
    unittest.main()
