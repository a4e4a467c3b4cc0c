#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The verdicts of bench/measure.py for rounds with known times."""
import contextlib
import io
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../bench"))
import measure  # noqa: E402


def costs(*seconds):
    return [measure.Cost(each, each, 0, each) for each in seconds]


def ratio(runs):
    return measure.least(runs["ours"]) / measure.least(runs["alone"])


def verdict(alone, ours, relation="<=", target=1.0):
    """(measured, verdict) of the line that is printed."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        measure.judge("name", {"alone": costs(*alone), "ours": costs(*ours)}, ratio, relation, target, "x")
    label, name, measured, aim, said = text.getvalue().rstrip("\n").split("\t")
    assert (label, name, aim) == ("FIGURE", "name", f"{relation} {target:g}x"), text.getvalue()
    return measured, said


class Judge(unittest.TestCase):
    def test_the_minimum_counts(self):
        self.assertEqual(verdict([1, 1.01, 9, 1, 1], [0.5, 0.5, 0.5, 7, 0.5]), ("0.50x (0.50 to 0.50)", "met"))
        self.assertEqual(verdict([1] * 5, [1.5, 1.5, 8, 1.5, 1.5])[1], "missed")
        self.assertEqual(verdict([1] * 5, [1.5] * 5, ">=")[1], "met")

    def test_what_a_few_rounds_decide_is_unclear(self):
        self.assertEqual(verdict([1] * 5, [0.9, 1.2, 1.2, 1.2, 1.2])[1], "unclear")

    def test_noise_is_not_judged(self):
        self.assertEqual(verdict([1, 1.06, 1.06, 1.04, 1.06], [0.5] * 5)[1], "too noisy: 3 of 5")
        self.assertEqual(verdict([1, 1.06, 1.06, 1.04, 1.04], [0.5] * 5)[1], "met")

    def test_rounds_are_drawn_with_all_their_sides(self):
        self.assertEqual(verdict([1, 1.04, 1, 1.04], [2, 2.08, 2, 2.08], target=3), ("2.00x (2.00 to 2.00)", "met"))


unittest.main()
