/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The parser of kallsyms on crafted text, hostile text, and the list of this kernel. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/file/whole_file.h"
#include "symbol/kernel/kallsyms.h"
#include "unit_test.h"

#define K "ffffffff81"
#define M "ffffffffa0"

static const char modules_text[] = "ext4 8192 1 - Live 0xffffffffa0000000\n"
				   "mbcache 4096 1 ext4, Live 0xffffffffa0001000\n"
				   "short line\n"
				   "hidden 4096 0 - Live 0x0000000000000000\n";

static const char symbols_text[] =
	"0000000000000100 A fixed_percpu_data\n" K "000000 T _stext\n" K "000000 T _text\n" K
	"000000 T first\n" K "000100 t __pfx_second\n" K "000110 t second\n" K
	"000110 T __second\n" K "000200 T __ia32_sys_fork\n" K "000200 T __x64_sys_fork\n" K
	"000200 t __do_sys_fork\n" K "000300 t __irqentry_text_start\n" K
	"000300 t irq_entries_start\n" K "000400 t $x\n" K "000410 W weak\n" K "000500 T last\n" K
	"000600 T _etext\n" K "001000 D data\n" M "000000 t ext4_a\t[ext4]\n" M
	"000100 t ext4_b\t[ext4]\n" M "001000 t mb_a\t[mbcache]\n" M
	"300000 t bpf_prog_6deef7357e7b4530_main\t[bpf]\n" M
	"300400 t bpf_prog_6deef7357e7b4530_last\t[bpf]\n" M
	"500000 t ftrace_trampoline\t[__builtin__ftrace]\n" M
	"600000 t kprobe_insn_page\t[__builtin__kprobes]\n";

struct fixture {
	struct symbol_table *table;
};

static void parse(struct fixture *fixture, const char *text, size_t bytes)
{
	struct module_list modules;

	assert_int_equal(symbol_table_create(&fixture->table), 0);
	assert_int_equal(module_list_parse(modules_text, strlen(modules_text), &modules), 0);
	assert_int_equal(kallsyms_parse(text, bytes, &modules, fixture->table), 0);
	module_list_clear(&modules);
}

static void expect(const struct fixture *fixture, u64 address, const char *name, u64 start, u64 end)
{
	struct symbol found;

	if (!name) {
		assert_false(symbol_table_find(fixture->table, address, &found));
		return;
	}
	assert_true(symbol_table_find(fixture->table, address, &found));
	assert_string_equal(found.name, name);
	assert_int_equal(found.start, start);
	assert_int_equal(found.start + found.size, end);
}

TEST(kernel_symbols_end_at_the_next)
{
	struct fixture f;

	parse(&f, symbols_text, strlen(symbols_text));
	expect(&f, 0x100, NULL, 0, 0);
	expect(&f, 0xffffffff80ffffff, NULL, 0, 0);
	expect(&f, 0xffffffff81000000, "first", 0xffffffff81000000, 0xffffffff81000100);
	expect(&f, 0xffffffff81000105, NULL, 0, 0);
	expect(&f, 0xffffffff810001ff, "__second", 0xffffffff81000110, 0xffffffff81000200);
	expect(&f, 0xffffffff81000200, "__x64_sys_fork", 0xffffffff81000200, 0xffffffff81000300);
	expect(&f, 0xffffffff81000300, "irq_entries_start", 0xffffffff81000300, 0xffffffff81000400);
	expect(&f, 0xffffffff81000405, NULL, 0, 0);
	expect(&f, 0xffffffff81000410, "weak", 0xffffffff81000410, 0xffffffff81000500);
	expect(&f, 0xffffffff810005ff, "last", 0xffffffff81000500, 0xffffffff81000600);
	expect(&f, 0xffffffff81000600, NULL, 0, 0);
	expect(&f, 0xffffffff81001000, NULL, 0, 0);
	symbol_table_free(&f.table);
}

TEST(module_symbols_end_with_their_module)
{
	struct fixture f;

	parse(&f, symbols_text, strlen(symbols_text));
	expect(&f, 0xffffffffa0000fff, "ext4_b", 0xffffffffa0000100, 0xffffffffa0001000);
	expect(&f, 0xffffffffa0001fff, "mb_a", 0xffffffffa0001000, 0xffffffffa0002000);
	expect(&f, 0xffffffffa0002000, NULL, 0, 0);
	symbol_table_free(&f.table);
}

/* Behind the last program of the list, another program may have been loaded and unloaded. */
TEST(code_of_no_module_ends_after_a_page)
{
	struct fixture f;

	parse(&f, symbols_text, strlen(symbols_text));
	expect(&f, 0xffffffffa0300010, "bpf_prog_6deef7357e7b4530_main", 0xffffffffa0300000,
	       0xffffffffa0300400);
	expect(&f, 0xffffffffa03013ff, "bpf_prog_6deef7357e7b4530_last", 0xffffffffa0300400,
	       0xffffffffa0301400);
	expect(&f, 0xffffffffa0301400, NULL, 0, 0);
	expect(&f, 0xffffffffa0500fff, "ftrace_trampoline", 0xffffffffa0500000, 0xffffffffa0501000);
	expect(&f, 0xffffffffa0501000, NULL, 0, 0);
	expect(&f, 0xffffffffa0601000, NULL, 0, 0);
	symbol_table_free(&f.table);
}

TEST(hidden_addresses_give_no_symbols)
{
	static const char text[] = "0000000000000000 T _stext\n0000000000000000 T schedule\n";
	struct fixture f;
	struct symbol symbol;

	parse(&f, text, strlen(text));
	assert_false(symbol_table_at_index(f.table, 0, &symbol));
	expect(&f, 0, NULL, 0, 0);
	symbol_table_free(&f.table);
}

TEST(senseless_lines_are_left_out)
{
	static const char text[] =
		"\n \nffffffff81000000\nffffffff81000000 T\nffffffff81000000 T \n"
		"xyz T name\nffffffff81000000TT name\n-1 T minus\n"
		"ffffffff810000000000 T too_long\nffffffff81000000 T nul\0name\n"
		"ffffffff81000010 T good\nffffffff81000020 T last_without_newline";
	struct fixture f;
	struct symbol symbol;

	parse(&f, text, sizeof(text) - 1);
	expect(&f, 0xffffffff8100001f, "good", 0xffffffff81000010, 0xffffffff81000020);
	assert_true(symbol_table_at_index(f.table, 1, &symbol));
	assert_string_equal(symbol.name, "last_without_newline");
	assert_false(symbol_table_at_index(f.table, 2, &symbol));
	symbol_table_free(&f.table);
}

static int keep_address(void *arg, const struct kallsyms_line *line)
{
	*(u64 *)arg = line->address;
	return 0;
}

/* Each byte value at each position of an address: it is a digit, or it ends the address, as for
 * strtoull(). */
TEST(addresses_have_any_digits)
{
	for (u32 place = 0; place < 16; place++)
		for (u32 byte = 1; byte < 256; byte++) {
			char text[] = "0123456789abcdef t name\n";
			u64 found = 0, wanted = 0;

			text[place] = byte;
			if (strspn(text, "0123456789abcdefABCDEF") == 16)
				wanted = strtoull(text, NULL, 16);
			else if (byte == ' ' || byte == '\n')
				continue; /* the rest becomes another line */
			kallsyms_each(text, strlen(text), keep_address, &found);
			assert_int_equal(found, wanted);
		}
}

TEST(a_huge_line_is_one_name)
{
	const size_t bytes = 4 << 20;
	char *text = malloc(bytes);
	struct fixture f;
	struct symbol found;

	assert_non_null(text);
	memset(text, 'n', bytes);
	memcpy(text, "ffffffff81000000 T ", 19);
	parse(&f, text, bytes);
	free(text);
	assert_true(symbol_table_find(f.table, 0xffffffff81000000, &found));
	assert_int_equal(found.name_bytes, bytes - 19);
	symbol_table_free(&f.table);
}

/* The text is cut at every place and copied to a buffer of its size, so that a sanitizer sees reads
 * beyond the end. */
TEST(every_cut_is_safe)
{
	for (size_t bytes = 0; bytes <= strlen(symbols_text); bytes++) {
		char *text = malloc(bytes ? bytes : 1);
		struct fixture f;

		assert_non_null(text);
		memcpy(text, symbols_text, bytes);
		parse(&f, text, bytes);
		free(text);
		symbol_table_free(&f.table);
	}
}

static int count_schedule(void *arg, const struct kallsyms_line *line)
{
	u64 *address = arg;

	if (line->name_bytes == strlen("schedule") && !memcmp(line->name, "schedule", 8))
		*address = line->address;
	return 0;
}

TEST(this_kernel_has_schedule)
{
	struct symbol_table *table;
	struct symbol found;
	u64 address = 0, inside, start_kernel;
	struct kallsyms_static code;
	size_t bytes;
	char *text;
	int fd;

	if (whole_file_read("/proc/kallsyms", &text, &bytes)) {
		printf("skip: no readable /proc/kallsyms\n");
		skip();
	}
	kallsyms_each(text, bytes, count_schedule, &address);
	start_kernel = kallsyms_address(text, bytes, "start_kernel");
	free(text);
	if (!address) {
		printf("skip: /proc/kallsyms hides addresses (kptr_restrict)\n");
		skip();
	}
	assert_int_equal(symbol_table_create(&table), 0);
	fd = open("/proc/kallsyms", O_RDONLY);
	assert_int_equal(kallsyms_read_static_symbols(fd, -1, &code), 0);
	inside = address + 4;
	assert_int_equal(kallsyms_fill_table_for_addresses(&code, &inside, 1, table), 0);
	assert_int_equal(code.ranges.count, 1);
	assert_string_equal(code.ranges.modules[0].name, "vmlinux");
	assert_true(start_kernel > code.ranges.modules[0].start);
	assert_true(start_kernel < code.ranges.modules[0].end);
	kallsyms_static_clear(&code);
	close(fd);
	assert_true(symbol_table_find(table, address + 4, &found));
	assert_string_equal(found.name, "schedule");
	assert_int_equal(found.start, address);
	symbol_table_free(&table);
}

static int memory_of(const char *before, const char *text)
{
	int fd = memfd_create("kallsyms", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, before, strlen(before)), strlen(before));
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	return fd;
}

static void read_static_kallsyms(struct kallsyms_static *code)
{
	int kallsyms = memory_of("", symbols_text), modules = memory_of("", modules_text);

	assert_int_equal(kallsyms_read_static_symbols(kallsyms, modules, code), 0);
	close(kallsyms);
	close(modules);
}

/* Looks up one address alone, and all of them at once: each has the symbol of the whole list. */
static void expect_same(const struct kallsyms_static *code, const struct symbol_table *whole,
			const u64 *addresses, u32 count)
{
	struct symbol_table *asked;

	assert_int_equal(symbol_table_create(&asked), 0);
	assert_int_equal(kallsyms_fill_table_for_addresses(code, addresses, count, asked), 0);
	for (u32 i = 0; i < count; i++) {
		struct symbol wanted, found;
		bool has = symbol_table_find(whole, addresses[i], &wanted);

		assert_int_equal(symbol_table_find(asked, addresses[i], &found), has);
		if (!has)
			continue;
		assert_string_equal(found.name, wanted.name);
		assert_int_equal(found.start, wanted.start);
		assert_int_equal(found.size, wanted.size);
	}
	symbol_table_free(&asked);
}

#define ASKED 2048

/* Neither modules nor the symbols of a module are in the order of addresses. */
TEST(symbols_that_are_asked_are_those_of_the_whole_list)
{
	static const char modules_list[] = "b 4096 1 - Live 0xffffffffa0002000\n"
					   "a 4096 1 - Live 0xffffffffa0000000\n";
	static const char list[] =
		K "000000 T _stext\n" K "000000 T first\n" K "000100 t __pfx_second\n" K
		  "000110 t second\n" K "000110 T __second\n" K "000200 T __ia32_sys_fork\n" K
		  "000200 T __x64_sys_fork\n" K "000600 T _etext\n" M "002100 t b_late\t[b]\n" M
		  "002000 t b_early\t[b]\n" M "000200 t a_late\t[a]\n" M "000000 t a_early\t[a]\n" M
		  "000200 T a_same\t[a]\n" M "002080 d b_data\t[b]\n";
	int kallsyms = memory_of("", list), modules = memory_of("", modules_list);
	struct kallsyms_static code;
	struct module_list parsed;
	struct symbol_table *whole;
	u64 addresses[ASKED];

	assert_int_equal(kallsyms_read_static_symbols(kallsyms, modules, &code), 0);
	assert_int_equal(module_list_parse(modules_list, strlen(modules_list), &parsed), 0);
	assert_int_equal(symbol_table_create(&whole), 0);
	assert_int_equal(kallsyms_parse(list, strlen(list), &parsed, whole), 0);
	for (u32 i = 0; i < ASKED; i++) {
		addresses[i] = i < ASKED / 2 ? 0xffffffff80fffff0 + i : 0xffffffffa0000000 + i * 16;
		expect_same(&code, whole, &addresses[i], 1);
	}
	for (u32 i = ASKED / 2; i < ASKED; i++)
		addresses[i] = 0xffffffff9ffffff0 + (i - ASKED / 2) * 16;
	expect_same(&code, whole, addresses, ASKED);
	for (u32 i = ASKED / 2; i < ASKED; i++)
		expect_same(&code, whole, &addresses[i], 1);
	symbol_table_free(&whole);
	module_list_clear(&parsed);
	kallsyms_static_clear(&code);
	close(kallsyms);
	close(modules);
}

static int read_passing(struct fixture *fixture, bool is_copy, const char *before, const char *text)
{
	struct kallsyms_static code;
	int fd = memory_of(before, text), result;

	read_static_kallsyms(&code);
	code.is_copy = is_copy;
	assert_int_equal(symbol_table_create(&fixture->table), 0);
	result = kallsyms_read_passing(fd, &code, fixture->table);
	kallsyms_static_clear(&code);
	close(fd);
	return result;
}

/* If the static lines are unchanged, only the lines behind them are read. */
TEST(temporary_symbols_are_read_again)
{
	char *text = strdup(symbols_text);
	struct fixture fixture;

	assert_non_null(text);
	strcpy(strstr(text, M "300000"), M "000800 t bpf_prog_1_other\t[bpf]\n");
	assert_int_equal(read_passing(&fixture, false, "", text), 0);
	expect(&fixture, 0xffffffffa0000900, "bpf_prog_1_other", 0xffffffffa0000800,
	       0xffffffffa0001000);
	expect(&fixture, 0xffffffffa0300000, NULL, 0, 0);
	expect(&fixture, 0xffffffff81000000, NULL, 0, 0);
	symbol_table_free(&fixture.table);
	free(text);
}

/* The list of static lines is a copy without data of the image, which /proc/kallsyms has. */
TEST(temporary_symbols_are_found_behind_more_lines_of_data)
{
	static const char data[] = K "001000 D data\n" K "001008 d more_data\n";
	struct fixture fixture;

	assert_int_equal(read_passing(&fixture, true, data, symbols_text), 0);
	expect(&fixture, 0xffffffffa0300010, "bpf_prog_6deef7357e7b4530_main", 0xffffffffa0300000,
	       0xffffffffa0300400);
	expect(&fixture, 0xffffffff81000000, NULL, 0, 0);
	symbol_table_free(&fixture.table);
}

TEST(a_moved_list_is_read_anew)
{
	char *text = strdup(symbols_text);
	struct fixture fixture;

	assert_non_null(text);
	assert_int_equal(read_passing(&fixture, false, K "000000 T more\n", symbols_text), -ESTALE);
	symbol_table_free(&fixture.table);
	assert_int_equal(read_passing(&fixture, false, "", "short\n"), -ESTALE);
	symbol_table_free(&fixture.table);
	strstr(text, M "001000 t mb_a")[sizeof(M "00100") - 1] = '8';
	assert_int_equal(read_passing(&fixture, true, "", text), -ESTALE);
	symbol_table_free(&fixture.table);
	free(text);
}

/* Lines of /proc/modules, some of them invalid. */
static const char unsorted_modules[] = "second 16384 2 first, Live 0xffffffffc0002000 (OE)\n"
				       "first 16384 0 - Live 0xffffffffc0000000\n"
				       "no_address 4096 0 -\n"
				       "\n"
				       "hidden 4096 0 - Live 0x0000000000000000\n"
				       "huge 18446744073709551615 0 - Live 0xffffffffc0100000";

TEST(modules_are_sorted_and_do_not_overlap)
{
	struct module_list list;

	assert_int_equal(module_list_parse(unsorted_modules, strlen(unsorted_modules), &list), 0);
	assert_int_equal(list.count, 4);
	assert_string_equal(list.modules[0].name, "hidden");
	assert_int_equal(list.modules[0].end, 0);
	assert_string_equal(list.modules[1].name, "first");
	assert_int_equal(list.modules[1].start, 0xffffffffc0000000);
	assert_int_equal(list.modules[1].end, 0xffffffffc0002000);
	assert_string_equal(list.modules[2].name, "second");
	assert_int_equal(list.modules[2].end, 0xffffffffc0006000);
	assert_int_equal(list.modules[3].end, list.modules[3].start);
	module_list_clear(&list);
	assert_int_equal(list.count, 0);
}

TEST(found_by_name_only_if_whole)
{
	struct module_list list;

	assert_int_equal(module_list_parse(unsorted_modules, strlen(unsorted_modules), &list), 0);
	assert_string_equal(module_list_find(&list, "first]", 5)->name, "first");
	assert_null(module_list_find(&list, "first", 4));
	assert_null(module_list_find(&list, "firsts", 6));
	module_list_clear(&list);
}

TEST(overlong_lines_are_left_out)
{
	static char long_text[20000];
	struct module_list list;

	memset(long_text, 'x', sizeof(long_text));
	strcpy(long_text + 10000, "\nm 1 0 - Live 0xffffffffc0000000\n");
	assert_int_equal(module_list_parse(long_text, strlen(long_text), &list), 0);
	assert_int_equal(list.count, 1);
	assert_string_equal(list.modules[0].name, "m");
	module_list_clear(&list);
}
