/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The text of a USDT probe's arguments. Probes of whole files are read end to end. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#include "arch/host.h"
#include "capture/source/usdt_probe.h"
#include "unit_test.h"

static struct event_number number;

static int find(const char *arguments, u32 index)
{
	number = (struct event_number){.offset = 9999};
	return usdt_argument_find(arguments, index, &number);
}

#ifdef __x86_64__
static void assert_register(const char *arguments, u32 index, u32 offset, u32 bytes, bool is_signed)
{
	assert_int_equal(find(arguments, index), 0);
	assert_int_equal(number.place, NUMBER_IN_EVENT);
	assert_int_equal(number.offset, offset);
	assert_int_equal(number.bytes, bytes);
	assert_int_equal(number.is_signed, is_signed);
}

static void assert_memory(const char *arguments, u32 offset, s32 displacement)
{
	assert_int_equal(find(arguments, 1), 0);
	assert_int_equal(number.place, NUMBER_IN_USER_MEMORY);
	assert_int_equal(number.offset, offset);
	assert_int_equal(number.steps, 1);
	assert_int_equal(number.displacement[0], displacement);
}

TEST(a_register_has_the_bytes_and_the_sign_that_stand_before_it)
{
	assert_register("8@%rdi", 1, REGISTER_OFFSET(rdi), 8, false);
	assert_register("8@%rdi -4@%eax 2@%r10w 1@%sil", 2, REGISTER_OFFSET(rax), 4, true);
	assert_register("8@%rdi -4@%eax 2@%r10w 1@%sil", 3, REGISTER_OFFSET(r10), 2, false);
	assert_register(" 8@%rdi  -1@%r15b ", 2, REGISTER_OFFSET(r15), 1, true);
}

TEST(memory_is_a_register_and_a_displacement)
{
	assert_memory("-4@112(%rsp)", REGISTER_OFFSET(rsp), 112);
	assert_memory("8@-0x18(%rbp)", REGISTER_OFFSET(rbp), -24);
	assert_memory("8@(%rax)", REGISTER_OFFSET(rax), 0);
}

TEST(unsupported_forms_are_refused)
{
	static const char *const forms[] = {
		"8@4(%rax,%rdx,4)",
		"8@counter(%rip)",
		"8f@%xmm0",
		"4@%ah",
		"16@%rax",
		"3@%eax",
		"8@%rdix",
		"8@%fs:-8(%rax)",
		"8@-8(%rax",
		"8@$0x100000000",
		"-8@%",
		"8@",
		"%rax",
		"0@%rax",
		"-200@%rax",
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		assert_int_equal(find(forms[i], 1), -EOPNOTSUPP);
		assert_int_equal(number.offset, 9999);
	}
}
#endif

TEST(constants_are_numbers)
{
	assert_int_equal(find("4@$7", 1), 0);
	assert_int_equal(number.place, NUMBER_CONSTANT);
	assert_int_equal(number.displacement[0], 7);
	assert_int_equal(find("-4@-12", 1), 0);
	assert_int_equal(number.displacement[0], -12);
}

TEST(a_missing_argument_is_refused)
{
	assert_int_equal(find("", 1), -ENOENT);
	assert_int_equal(find("  ", 1), -ENOENT);
	assert_int_equal(find("4@$7 4@$8", 3), -ENOENT);
	assert_int_equal(number.offset, 9999);
}
