/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What programs are told of the kernel's code, from lists of symbols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "capture/load/text_ranges.h"

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
static void test_tracer(void **state)
{
	(void)state;
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

/* What serves an exception is the task's own doing. */
static void test_interrupts(void **state)
{
	(void)state;
	parse("ffffffff81000e00 T asm_sysvec_apic_timer_interrupt\n"
	      "ffffffff821f1390 T common_interrupt\n"
	      "ffffffff821f1440 T sysvec_apic_timer_interrupt\n"
	      "ffffffff821f14d0 T exc_page_fault\n"
	      "ffffffff821f15c0 T exc_nmi\n"
	      "ffffffff821f1620 T fred_sysvec_thermal\n"
	      "ffffffff821f1b80 T __sysvec_thermal\n");
	assert_int_equal(text.count, 4);
	check_range(0, TEXT_INTERRUPT, 0xffffffff821f1390, 0xffffffff821f1440);
	check_range(1, TEXT_INTERRUPT, 0xffffffff821f1440, 0xffffffff821f14d0);
	check_range(2, TEXT_INTERRUPT, 0xffffffff821f15c0, 0xffffffff821f1620);
	check_range(3, TEXT_INTERRUPT, 0xffffffff821f1620, 0xffffffff821f1b80);
}

static void test_hidden(void **state)
{
	(void)state;
	parse("0000000000000000 T common_interrupt\n"
	      "0000000000000000 t __traceiter_sched_switch\n"
	      "0000000000000000 T after\n");
	assert_int_equal(text.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tracer),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_hidden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
