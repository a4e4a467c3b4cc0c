#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""The verdicts of the judge for stacks that are known to be whole, cut, guessed or wrong."""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import judge  # noqa: E402
import situations  # noqa: E402

PROGRAM, LIBC = "/tmp/program", "/usr/lib/x86_64-linux-gnu/libc.so.6"
START = ["_start", "__libc_start_main@" + LIBC]


def event(frames, mark=None):
    """The event that the text of frames is read as, outermost first: NAME or NAME@FILE; the mark is the reason of an early end."""
    lines = ["\t    %x %s (%s)" % (16 + i, name, file or PROGRAM)
             for i, (name, _, file) in enumerate(frame.partition("@") for frame in reversed(frames))]
    if mark:
        lines.append("\t    0 [%s] ([user stack])" % mark)
    found, = judge.events_of("\n".join(["program 12 [001] 3.5: cpu-clock:", *lines, "", ""]))
    return found


def kind(frames, mark=None, truth="main outer middle leaf", is_marking=True, **more):
    return judge.Truth(truth, **more).judge(event(frames, mark), is_marking).kind


class JudgeTest(unittest.TestCase):
    def test_whole(self):
        for inner in (["leaf+0x12"], [], ["leaf.constprop.0", "memcpy@" + LIBC]):
            self.assertEqual(kind(START + ["main+0x1", "outer", "middle"] + inner), "whole")
        self.assertEqual(kind(START + ["exit@" + LIBC]), "whole")
        self.assertEqual(kind(["_dl_start@/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2"]), "whole")

    def test_a_missing_caller_is_wrong(self):
        self.assertEqual(kind(START + ["main", "outer", "leaf"]), "wrong")
        self.assertEqual(kind(START + ["outer", "middle", "leaf"]), "wrong")
        self.assertEqual(kind(["leaf"], mark=None), "wrong")

    def test_an_invented_caller_is_wrong(self):
        self.assertEqual(kind(START + ["main", "outer", "middle", "main", "leaf"]), "wrong")
        self.assertEqual(kind(START + ["main", "outer", "memcpy@" + LIBC, "middle", "leaf"]), "wrong")
        self.assertEqual(kind(START + ["main", "outer", "elsewhere", "middle", "leaf"]), "wrong")

    def test_an_end_that_is_no_start_is_wrong_without_a_mark(self):
        self.assertEqual(kind(["main", "outer", "middle", "leaf"]), "wrong")
        self.assertEqual(kind(["main", "outer", "middle", "leaf"], mark="no_rule"), "cut")
        self.assertEqual(kind(["main", "outer", "middle", "leaf"], is_marking=False), "cut")

    def test_a_cut_stack_may_be_wrong(self):
        self.assertEqual(kind(["outer", "middle"], mark="no_rule"), "cut")
        self.assertEqual(kind(["outer", "leaf"], mark="no_rule"), "wrong")
        self.assertEqual(kind([], mark="changed"), "cut")
        self.assertEqual(judge.Truth("main").judge(event([], mark="changed"), True).reason, "changed")

    def test_a_guess_counts_before_the_guess_only(self):
        self.assertEqual(kind(["? _start", "? main", "? main", "middle", "leaf"], mark="guessed"), "guess")
        self.assertEqual(kind(["? _start", "? main", "outer", "leaf"], mark="guessed"), "wrong")
        self.assertEqual(kind(["? main", "leaf"], mark="no_rule"), "guess")

    def test_a_recorder_without_marks_may_end_near_the_start(self):
        frames = ["__libc_start_call_main@" + LIBC, "main", "outer"]
        self.assertEqual(kind(frames, is_marking=False), "whole")
        self.assertEqual(kind(["[unknown]"] + START[1:] + ["main"], is_marking=False), "whole")
        self.assertEqual(kind(frames), "wrong")

    def test_repeated_and_foreign_frames(self):
        truth = ["main often again+ leaf", "main sort * compare leaf"]
        self.assertEqual(kind(START + ["main", "often", "again", "again", "[7 frames omitted]", "again", "leaf"], truth=truth), "whole")
        self.assertEqual(kind(START + ["main", "again", "again", "leaf"], truth=truth), "wrong")
        self.assertEqual(kind(START + ["main", "sort", "qsort@" + LIBC, "msort@" + LIBC, "compare"], truth=truth), "whole")
        self.assertEqual(kind(START + ["main", "sort", "qsort@" + LIBC, "leaf"], truth=truth), "wrong")

    def test_frames_without_a_name(self):
        unnamed = "program+0x1130..0x1150"
        verdict = judge.Truth("main outer").judge(event(START + ["main", unnamed]), True)
        self.assertEqual((verdict.kind, verdict.is_unnamed), ("whole", True))
        self.assertEqual(kind(START + ["main"] + 3 * [unnamed], truth="main outer middle leaf"), "whole")
        self.assertEqual(kind([unnamed] + START[1:] + 5 * [unnamed], truth="main outer middle leaf", is_marking=False), "whole")
        self.assertEqual(kind([unnamed] + START[1:] + 6 * [unnamed], truth="main outer middle leaf", is_marking=False), "wrong")
        self.assertEqual(kind(START + [unnamed, "main"]), "wrong")
        self.assertEqual(kind([unnamed, "main"]), "wrong")
        self.assertEqual(kind(START + ["main", "run", "0x7f00@[anon]", "leaf"], truth="main run _ leaf"), "whole")

    def test_starts_of_a_situation(self):
        self.assertEqual(kind(["__start_context@" + LIBC, "body"], truth="body leaf", starts=("__start_context",)), "whole")
        self.assertEqual(kind(["libc.so.6+0x51..0x70@" + LIBC, "body"], truth="body leaf", starts=("libc.so.6",)), "whole")
        self.assertEqual(kind(["libc.so.6+0x51..0x70@" + LIBC, "body"], truth="body leaf"), "wrong")

    def test_names_as_in_the_source(self):
        for name, wanted in (("leaf.constprop.0+0x7", "leaf"), ("clock_gettime@@GLIBC_2.17", "clock_gettime"), ("work(int, char)", "work"),
                             ("deep(int) [clone .part.0]+0x7", "deep"), ("chain::leaf::h0123456789abcdef", "chain::leaf"), ("main.leaf", "main.leaf"),
                             ("camlChain__leaf_274", "camlChain__leaf"), ("runtime.goexit.abi0", "runtime.goexit"),
                             ("runtime.(*mcache).nextFree", "runtime.(*mcache).nextFree")):
            self.assertEqual(judge.function(name), wanted)

    def test_kernel_frames_are_left_out(self):
        text = "a 1 2.0: x:\n\tffffffff81000000 work ([kernel.kallsyms])\n\t10 main (/tmp/a)\n\t 0 [unknown] ([unknown])\n\n"
        found, = judge.events_of(text)
        self.assertEqual(([frame.name for frame in found.frames], found.mark), (["main"], "no_code"))


class SituationsTest(unittest.TestCase):
    def test_names_differ_and_low_shares_have_a_reason(self):
        names = [each.name for each in situations.SITUATIONS]
        self.assertEqual(len(names), len(set(names)))
        for each in situations.SITUATIONS:
            self.assertTrue(each.share >= 0.99 and not each.wrong or each.why, each.name)


unittest.main()
