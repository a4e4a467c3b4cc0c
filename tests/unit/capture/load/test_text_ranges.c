/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Ranges of the kernel's code for BPF programs, from lists of symbols. */
#include <string.h>

#include "capture/load/text_ranges.h"
#include "unit_test.h"

static struct kernel_text text;

static void parse(const char *kallsyms)
{
	memset(&text, 0xff, sizeof(text));
	text_ranges_parse(kallsyms, strlen(kallsyms), &text);
}

static void check_range(u32 index, enum text_kind kind, u64 start, u64 end)
{
	assert_true(index < text.count);
	assert_int_equal(text.range[index].kind, kind);
	assert_int_equal(text.range[index].start, start);
	assert_int_equal(text.range[index].start + text.range[index].bytes, end);
}

/* A function ends at the next address; modules come in an order of their own. */
TEST(functions_of_the_tracer_are_ranges)
{
	parse("ffffffff81000100 t __bpf_trace_sched_switch\n"
	      "ffffffff81000100 t the_same_place\n"
	      "ffffffff81000180 T schedule\n"
	      "ffffffffa0000200 t __traceiter_of_a_module\t[module]\n"
	      "ffffffffa0000240 t more_of_it\t[module]\n"
	      "ffffffff81000050 t __traceiter_sched_switch\n"
	      "ffffffff81000060 T after\n");
	assert_int_equal(text.count, 3);
	check_range(0, TEXT_TRACER, 0xffffffff81000050, 0xffffffff81000060);
	check_range(1, TEXT_TRACER, 0xffffffff81000100, 0xffffffff81000180);
	check_range(2, TEXT_TRACER, 0xffffffffa0000200, 0xffffffffa0000240);
}

TEST(functions_with_work_of_the_interrupted_task_are_ranges)
{
	parse("ffffffff81387d40 T task_work_run\n"
	      "ffffffff814153f0 T exit_to_user_mode_loop\n"
	      "ffffffff81415500 T irq_exit_rcu\n"
	      "ffffffff821f38e0 T irqentry_exit_to_user_mode\n"
	      "ffffffff821f8540 t __schedule\n"
	      "ffffffff821f9000 T schedule\n");
	assert_int_equal(text.count, 4);
	check_range(0, TEXT_TASK, 0xffffffff81387d40, 0xffffffff814153f0);
	check_range(1, TEXT_TASK, 0xffffffff814153f0, 0xffffffff81415500);
	check_range(2, TEXT_TASK, 0xffffffff821f38e0, 0xffffffff821f8540);
	check_range(3, TEXT_TASK, 0xffffffff821f8540, 0xffffffff821f9000);
}

/* Exceptions are not interrupts: the task itself causes them. */
TEST(functions_of_interrupts_are_ranges)
{
	parse("ffffffff81000e00 T asm_sysvec_apic_timer_interrupt\n"
	      "ffffffff81f00000 t handle_softirqs\n"
	      "ffffffff81f00400 T __do_softirq\n"
	      "ffffffff81f00440 t ____do_softirq\n"
	      "ffffffff821f1390 T common_interrupt\n"
	      "ffffffff821f1440 T sysvec_apic_timer_interrupt\n"
	      "ffffffff821f14d0 T exc_page_fault\n"
	      "ffffffff821f15c0 T exc_nmi\n"
	      "ffffffff821f1620 T fred_sysvec_thermal\n"
	      "ffffffff821f1b80 T __sysvec_thermal\n");
	assert_int_equal(text.count, 7);
	check_range(0, TEXT_ENTRY, 0xffffffff81000e00, 0xffffffff81f00000);
	check_range(1, TEXT_SOFT_INTERRUPT, 0xffffffff81f00000, 0xffffffff81f00400);
	check_range(2, TEXT_SOFT_INTERRUPT, 0xffffffff81f00400, 0xffffffff81f00440);
	check_range(3, TEXT_INTERRUPT, 0xffffffff821f1390, 0xffffffff821f1440);
	check_range(4, TEXT_INTERRUPT, 0xffffffff821f1440, 0xffffffff821f14d0);
	check_range(5, TEXT_INTERRUPT, 0xffffffff821f15c0, 0xffffffff821f1620);
	check_range(6, TEXT_INTERRUPT, 0xffffffff821f1620, 0xffffffff821f1b80);
}

TEST(trampolines_of_return_probes_are_ranges)
{
	parse("ffffbfdd0a838200 t alloc_insn_page\n"
	      "ffffbfdd0a838284 T __kretprobe_trampoline\n"
	      "ffffbfdd0a838300 T arch_rethook_trampoline\n"
	      "ffffbfdd0a838400 T return_to_handler\n"
	      "ffffbfdd0a838500 T return_unused\n");
	assert_int_equal(text.count, 3);
	check_range(0, TEXT_TRACER, 0xffffbfdd0a838284, 0xffffbfdd0a838300);
	check_range(1, TEXT_TRACER, 0xffffbfdd0a838300, 0xffffbfdd0a838400);
	check_range(2, TEXT_TRACER, 0xffffbfdd0a838400, 0xffffbfdd0a838500);
}

/* Entries of arm64: the frame behind the entry from kernel code is the interrupted pc itself.
 * Handlers of exceptions and of system calls are neither interrupts nor entries. */
TEST(functions_of_interrupts_of_arm64_are_ranges)
{
	parse("ffffa53288a10e80 t el1t_64_irq\n"
	      "ffffa53288a11218 t el1h_64_sync\n"
	      "ffffa53288a11288 t el1h_64_irq\n"
	      "ffffa53288a112f0 t el1h_64_fiq\n"
	      "ffffa53288a11358 t el1h_64_error\n"
	      "ffffa53288a113c0 t el0t_64_sync\n"
	      "ffffa53288a11558 t el0t_64_irq\n"
	      "ffffa53288a11bb8 t el0t_32_irq\n"
	      "ffffa53288a28000 T do_notify_resume\n"
	      "ffffa53288a28800 T do_compat_alignment_fixup\n"
	      "ffffa53289947380 T el1h_64_sync_handler\n"
	      "ffffa53289947470 T el1h_64_irq_handler\n"
	      "ffffa532899474a0 T el1h_64_fiq_handler\n"
	      "ffffa532899474c0 T el1h_64_error_handler\n"
	      "ffffa53289947500 T el0t_64_sync_handler\n"
	      "ffffa532899475f0 T el0t_64_irq_handler\n"
	      "ffffa53289947610 T el0t_64_fiq_handler\n"
	      "ffffa53289947630 T el0t_64_error_handler\n"
	      "ffffa53289947700 T el0t_32_irq_handler\n"
	      "ffffa53289947720 T el0t_32_fiq_handler\n"
	      "ffffa53289947740 T el0_svc\n");
	assert_int_equal(text.count, 11);
	check_range(0, TEXT_ENTRY, 0xffffa53288a11218, 0xffffa53288a11288);
	check_range(1, TEXT_ENTRY, 0xffffa53288a11288, 0xffffa53288a112f0);
	check_range(2, TEXT_ENTRY, 0xffffa53288a112f0, 0xffffa53288a11358);
	check_range(3, TEXT_ENTRY, 0xffffa53288a11358, 0xffffa53288a113c0);
	check_range(4, TEXT_TASK, 0xffffa53288a28000, 0xffffa53288a28800);
	check_range(5, TEXT_INTERRUPT, 0xffffa53289947470, 0xffffa532899474a0);
	check_range(6, TEXT_INTERRUPT, 0xffffa532899474a0, 0xffffa532899474c0);
	check_range(7, TEXT_INTERRUPT, 0xffffa532899475f0, 0xffffa53289947610);
	check_range(8, TEXT_INTERRUPT, 0xffffa53289947610, 0xffffa53289947630);
	check_range(9, TEXT_INTERRUPT, 0xffffa53289947700, 0xffffa53289947720);
	check_range(10, TEXT_INTERRUPT, 0xffffa53289947720, 0xffffa53289947740);
}

/* Code is interrupted at its first instruction, at another one, and in the entry of an exception:
 * each frame behind an entry becomes pc + 1. Frames behind calls and user frames stay unchanged. */
TEST(interrupted_frames_are_the_addresses_after_their_pc)
{
	static const u64 read[] = {0xffffffff81100010, 0xffffffff81000d16, 0xffffffff81000c60,
				   0xffffffff81100100, 0xffffffff81100080, 0xffffffff81000c80,
				   0xffffffff81100058, 0xffffffff81000c80, 0x12345};
	static const u64 wanted[] = {0xffffffff81100010, 0xffffffff81000d16, 0xffffffff81000c61,
				     0xffffffff81100101, 0xffffffff81100080, 0xffffffff81000c80,
				     0xffffffff81100059, 0xffffffff81000c80, 0x12345};
	u64 frames[sizeof(read) / sizeof(read[0])];

	parse("ffffffff81000c60 T asm_exc_page_fault\n"
	      "ffffffff81000c90 T asm_int80_emulation\n"
	      "ffffffff81000cb0 t other_assembler\n"
	      "ffffffff81000d10 t end_repeat_nmi\n"
	      "ffffffff81000d40 T asm_common_interrupt\n"
	      "ffffffff81000d80 T asm_spurious_interrupt\n"
	      "ffffffff81000db0 T asm_sysvec_reboot\n"
	      "ffffffff81000e00 T asm_fred_entrypoint_kernel\n"
	      "ffffffff81000f00 T asm_load_gs_index\n"
	      "ffffffff81001000 T last\n");
	assert_int_equal(text.count, 7);
	memcpy(frames, read, sizeof(frames));
	text_ranges_mark_interrupted(&text, frames, sizeof(read) / sizeof(read[0]));
	for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++)
		assert_int_equal(frames[i], wanted[i]);
	text.count = 0;
	memcpy(frames, read, sizeof(frames));
	text_ranges_mark_interrupted(&text, frames, sizeof(read) / sizeof(read[0]));
	assert_memory_equal(frames, read, sizeof(frames));
}

TEST(hidden)
{
	parse("0000000000000000 T common_interrupt\n"
	      "0000000000000000 t __traceiter_sched_switch\n"
	      "0000000000000000 T after\n");
	assert_int_equal(text.count, 0);
}
