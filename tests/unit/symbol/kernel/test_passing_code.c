/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Kernel code that is loaded and unloaded: the name that an address has at the end, with made-up
 * lists and with this kernel. */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/kernel/passing_code.h"
#include "unit_test.h"

#define FIRST 0xffffffffc0000040ULL
#define MODULE 0xffffffffc0a00000ULL

static struct passing_code *code;

static void expect(u64 address, enum code_match match, const char *name, u64 start, u64 end)
{
	struct code_span found = {};

	assert_int_equal(passing_code_find(code, address, &found), match);
	if (match != CODE_KNOWN)
		return;
	assert_string_equal(found.name, name);
	assert_int_equal(found.start, start);
	assert_int_equal(found.end, end);
}

static void add(u64 start, u64 end, const char *name)
{
	passing_code_add(code, &(struct code_span){start, end, name});
}

static void remove_passing_code(u64 start, u64 end, const char *name)
{
	passing_code_remove(code, &(struct code_span){start, end, name});
}

static int modules_file(const char *text)
{
	int file = memfd_create("modules", MFD_CLOEXEC);

	assert_int_equal(write(file, text, strlen(text)), strlen(text));
	return file;
}

static int begin(void **state)
{
	(void)state;
	return passing_code_create(-1, &code);
}

static int end(void **state)
{
	(void)state;
	passing_code_free(&code);
	return 0;
}

TEST(a_program_that_is_gone_keeps_its_name_and_its_bounds, begin, end)
{
	add(FIRST, FIRST + 0x100, "bpf_prog_1_long");
	add(FIRST + 0x140, FIRST + 0x180, "bpf_prog_2_short");
	remove_passing_code(FIRST, FIRST + 0x100, "bpf_prog_1_long");
	expect(FIRST - 1, CODE_UNKNOWN, NULL, 0, 0);
	expect(FIRST, CODE_KNOWN, "bpf_prog_1_long", FIRST, FIRST + 0x100);
	expect(FIRST + 0xff, CODE_KNOWN, "bpf_prog_1_long", FIRST, FIRST + 0x100);
	expect(FIRST + 0x100, CODE_UNKNOWN, NULL, 0, 0);
	expect(FIRST + 0x13f, CODE_UNKNOWN, NULL, 0, 0);
	expect(FIRST + 0x140, CODE_KNOWN, "bpf_prog_2_short", FIRST + 0x140, FIRST + 0x180);
	expect(FIRST + 0x180, CODE_UNKNOWN, NULL, 0, 0);
}

TEST(the_report_of_its_end_names_an_older_program, begin, end)
{
	add(FIRST, FIRST + 0x100, "");
	expect(FIRST + 8, CODE_KNOWN, "", FIRST, FIRST + 0x100);
	remove_passing_code(FIRST, FIRST + 0x100, "bpf_prog_1_old");
	expect(FIRST + 8, CODE_KNOWN, "bpf_prog_1_old", FIRST, FIRST + 0x100);
}

TEST(one_program_after_another_has_no_name, begin, end)
{
	add(FIRST, FIRST + 0x100, "bpf_prog_1_one");
	remove_passing_code(FIRST, FIRST + 0x100, "bpf_prog_1_one");
	add(FIRST + 0x80, FIRST + 0x200, "bpf_prog_2_other");
	expect(FIRST + 0x7f, CODE_KNOWN, "bpf_prog_1_one", FIRST, FIRST + 0x100);
	expect(FIRST + 0x80, CODE_AMBIGUOUS, NULL, 0, 0);
	expect(FIRST + 0x100, CODE_KNOWN, "bpf_prog_2_other", FIRST + 0x80, FIRST + 0x200);
}

/* The second program has the same size, and is loaded before the names of the first one were read.
 */
TEST(an_older_program_is_not_its_successor, begin, end)
{
	add(FIRST, FIRST + 0x100, "");
	remove_passing_code(FIRST, FIRST + 0x100, "bpf_prog_1_old");
	add(FIRST, FIRST + 0x100, "bpf_prog_2_new");
	expect(FIRST, CODE_AMBIGUOUS, NULL, 0, 0);
}

TEST(a_program_that_is_loaded_again_keeps_its_name, begin, end)
{
	for (int i = 0; i < 3; i++) {
		add(FIRST, FIRST + 0x100, "bpf_prog_1_one");
		remove_passing_code(FIRST, FIRST + 0x100, "bpf_prog_1_one");
		expect(FIRST, CODE_KNOWN, "bpf_prog_1_one", FIRST, FIRST + 0x100);
	}
}

TEST(removed_code_is_forgotten_one_file_later, begin, end)
{
	add(FIRST, FIRST + 0x100, "bpf_prog_1_one");
	remove_passing_code(FIRST, FIRST + 0x100, "bpf_prog_1_one");
	add(FIRST, FIRST + 0x80, "bpf_prog_2_other");
	passing_code_forget(code);
	expect(FIRST, CODE_AMBIGUOUS, NULL, 0, 0);
	passing_code_forget(code);
	expect(FIRST, CODE_KNOWN, "bpf_prog_2_other", FIRST, FIRST + 0x80);
	expect(FIRST + 0x80, CODE_UNKNOWN, NULL, 0, 0);
}

TEST(a_module_that_is_gone_has_no_names, begin, end)
{
	int both = modules_file("one 4096 0 - Live 0xffffffffc0a00000\n"
				"two 4096 0 - Live 0xffffffffc0a01000\n");
	int other = modules_file("new 4096 0 - Live 0xffffffffc0a00000\n"
				 "two 4096 0 - Live 0xffffffffc0a01000\n");

	assert_int_equal(passing_code_compare_modules(code, both), 0);
	expect(MODULE, CODE_UNKNOWN, NULL, 0, 0);
	assert_int_equal(passing_code_compare_modules(code, other), 0);
	expect(MODULE, CODE_AMBIGUOUS, NULL, 0, 0);
	expect(MODULE + 0xfff, CODE_AMBIGUOUS, NULL, 0, 0);
	expect(MODULE + 0x1000, CODE_UNKNOWN, NULL, 0, 0);
	close(both);
	close(other);
}

/* Loads a program. *start and *bytes: the kernel's address and length of the program, 0 without
 * privileges. */
static int load(u64 *start, u32 *bytes)
{
	const struct bpf_insn program[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = 1},
		{.code = BPF_JMP | BPF_EXIT},
	};
	struct bpf_prog_info info = {
		.nr_jited_ksyms = 1,
		.jited_ksyms = (u64)start,
		.nr_jited_func_lens = 1,
		.jited_func_lens = (u64)bytes,
	};
	u32 info_bytes = sizeof(info);
	int fd = bpf_prog_load(BPF_PROG_TYPE_SOCKET_FILTER, "passes", "GPL", program, 2, NULL);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &info_bytes) || !*start) {
		printf("skip: no BPF program whose address is shown\n");
		skip();
	}
	return fd;
}

TEST(this_kernel_reports_programs, begin, end)
{
	u64 before, later;
	u32 before_bytes, later_bytes;
	int older = load(&before, &before_bytes), newer;
	char name[sizeof("bpf_prog_0123456789abcdef_passes")];

	passing_code_free(&code);
	assert_int_equal(passing_code_create(-1, &code), 0);
	expect(before, CODE_KNOWN, "", before, before + before_bytes);
	newer = load(&later, &later_bytes);
	passing_code_read_reports(code);
	if (passing_code_find(code, later, &(struct code_span){}) == CODE_UNKNOWN) {
		printf("skip: the kernel reports no symbols\n");
		skip();
	}
	close(newer);
	passing_code_read_reports(code);
	for (u64 i = 0; i < later_bytes; i++) {
		struct code_span found = {};

		assert_int_equal(passing_code_find(code, later + i, &found), CODE_KNOWN);
		assert_int_equal(found.start, later);
		assert_int_equal(found.end, later + later_bytes);
		assert_int_equal(strlen(found.name), sizeof(name) - 1);
		assert_string_equal(found.name + sizeof(name) - sizeof("_passes"), "_passes");
	}
	close(older);
}
