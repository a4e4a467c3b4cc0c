/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The table of a file against the unwinder on that file: at any address both have the same rule, or
 * the table has none and the unwinder none of a table either. Of files of this machine, as far as
 * they are installed, and of programs of several linkers and kinds; and what becomes of programs
 * with flipped bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_program.h"
#include "symbol/elf/elf_segment.h"
#include "symbol/unwind/code_rows.h"
#include "symbol/unwind/file_image.h"
#include "symbol/unwind/file_table_pack.h"
#include "unwind/table_search.h"
#include "unwind/unwind.h"

#define LOOKS 20000
#define LOOKS_IN_A_SAMPLE 2000
#define FLIPS 300

static const char *const installed[] = {
	"/proc/self/exe",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/usr/bin/python3",
	"/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0",
	"/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
	"/usr/bin/node",
};

static const struct sample samples[] = {
	{"pie", "gcc -O1 -fPIE -pie -s $IN -o $OUT", sample_c, ".c"},
	{"no_pie", "gcc -O1 -fno-pie -no-pie -s $IN -o $OUT", sample_c, ".c"},
	{"one_segment", "gcc -O1 -no-pie -Wl,-z,noseparate-code -s $IN -o $OUT", sample_c, ".c"},
	{"static", "gcc -O1 -static -s $IN -o $OUT", sample_c, ".c"},
	{"static_pie", "gcc -O1 -static-pie -s $IN -o $OUT", sample_c, ".c"},
	{"personality", "g++ -O1 -s $IN -o $OUT", sample_cxx, ".cc"},
	{"of_lld",
	 "ld.lld --version >/dev/null 2>&1 || exit 0; gcc -O1 -fuse-ld=lld -s $IN -o $OUT",
	 sample_c, ".c"},
};

static struct unwind unwind;
static struct file_table table;
static struct code_rows rows;
static struct elf_segments segments;
static unsigned int seed = 1;

bool unwind_read(struct unwind *context, u64 address, void *buffer, u32 bytes)
{
	return file_image_read(context->memory, address, buffer, bytes);
}

bool unwind_refill(struct unwind *context)
{
	(void)context;
	return false;
}

bool unwind_find_mapping(struct unwind *context, u64 pc)
{
	(void)context;
	(void)pc;
	return false;
}

u64 unwind_frame(struct unwind *context, u64 pc)
{
	(void)context;
	return pc;
}

/* It asks for where a table begins, too: once is enough for a file. */
static struct unwind_rule place;
static bool has_place;

bool unwind_recall(struct unwind *context)
{
	context->rule = place;
	return has_place;
}

void unwind_remember(struct unwind *context)
{
	place = context->rule;
	has_place = true;
}

const struct file_table_chunk *file_table_chunk(const struct file_table_search *search, u32 index)
{
	assert_int_equal(search->number, 7);
	return index < table.count ? &table.chunks[index] : NULL;
}

void file_table_use(struct file_table_search *search, const struct file_table_chunk *root)
{
	(void)search;
	(void)root;
}

static int find(u64 offset, struct file_table_search *search)
{
	*search = (struct file_table_search){.number = 7, .offset = offset};
	return file_table_find(search);
}

/* Makes unwind.rule the unwinder's at an address. */
static u32 rule_by_unwinder(struct file_image *image, u64 address)
{
	unwind.memory = image;
	unwind.budget = 64 * UNWIND_BUDGET;
	unwind.is_interrupted = false;
	unwind.registers.value[REGISTER_RIP] = address + 1;
	unwind.mapping.image = file_image_header(image);
	return unwind_rule(&unwind);
}

/* So behind a system call only where a row begins has to be told from the code before. */
static void assert_same_before(u64 offset, const struct unwind_rule *rule)
{
	struct file_table_search search;

	assert_true(find(offset - 1, &search));
	assert_memory_equal(&search.rule, rule, sizeof(*rule));
}

/* Whether the table has a rule there. */
static bool compare_at(struct file_image *image, const struct elf_segment *segment, u64 at)
{
	u64 address = FILE_IMAGE_BASE + segment->address + at;
	struct file_table_search search;
	bool found = find(segment->offset + at, &search);
	u32 stop = rule_by_unwinder(image, address);

	if (found) {
		assert_int_equal(stop, STOP_NONE);
		assert_int_equal(unwind.code_seen, 0);
		assert_memory_equal(&unwind.rule, &search.rule, sizeof(search.rule));
	} else {
		assert_true(stop || unwind.same_from == unwind.same_to);
	}
	if (found && !search.is_row_start)
		assert_same_before(segment->offset + at, &search.rule);
	return found;
}

static u64 any(u64 below)
{
	return ((u64)rand_r(&seed) << 31 ^ (u64)rand_r(&seed)) % below;
}

/* Where a row begins, and the byte before, go wrong first. */
static u64 any_place(const struct elf_segment *segment)
{
	u64 offset;

	if (any(2))
		return any(segment->bytes);
	offset = rows.rows[any(rows.count)].offset - any(2) - segment->offset;
	return offset < segment->bytes ? offset : any(segment->bytes);
}

static void read_segments(int file)
{
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ, NULL);
	elf_segments_read(elf, &segments);
	elf_end(elf);
}

static void forget(void)
{
	code_rows_clear(&rows);
	file_table_clear(&table);
	memset(&unwind, 0, sizeof(unwind));
	has_place = false;
}

static u32 compare_looks(int file, u32 looks)
{
	struct file_image *image;
	u32 found = 0;

	assert_true(code_rows_are_sound(&rows));
	assert_int_equal(file_table_pack(&rows, &table), 0);
	assert_int_equal(file_image_create(file, &image), 0);
	read_segments(file);
	for (u32 i = 0; i < looks; i++) {
		const struct elf_segment *segment = &segments.segment[any(segments.count)];

		found += compare_at(image, segment, any_place(segment));
	}
	file_image_free(&image);
	return found;
}

static void compare_file(const char *name, u32 looks)
{
	int file = open(name, O_RDONLY);
	u32 found;

	assert_true(file >= 0);
	assert_int_equal(code_rows_read(file, &rows), 0);
	found = compare_looks(file, looks);
	printf("%s: %u rows, %u rules, %u chunks, %u of %u addresses\n", name, rows.count,
	       rows.rule_count, table.count, found, looks);
	assert_true(found > looks / 4);
	close(file);
	forget();
}

static void installed_files_have_the_rules_of_the_unwinder(void **state)
{
	(void)state;
	for (u32 i = 0; i < sizeof(installed) / sizeof(installed[0]); i++)
		if (!access(installed[i], R_OK))
			compare_file(installed[i], LOOKS);
}

static void programs_of_all_kinds_have_the_rules_of_the_unwinder(void **state)
{
	char path[SAMPLE_PATH_BYTES];

	(void)state;
	for (u32 i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		sample_build(&samples[i], path);
		if (!access(path, R_OK))
			compare_file(path, LOOKS_IN_A_SAMPLE);
	}
}

/* Headers and unwind tables are hit mostly, as they are what is read. */
static void flip(int file)
{
	struct stat status;
	u8 byte = any(256);
	u64 at;

	assert_int_equal(fstat(file, &status), 0);
	at = any(4) ? status.st_size / 4 + any(status.st_size / 2) : any(1024);
	assert_int_equal(pwrite(file, &byte, 1, at), 1);
}

static void damaged_files_have_the_rules_of_the_unwinder_or_none(void **state)
{
	char path[SAMPLE_PATH_BYTES];
	u32 read = 0;

	(void)state;
	for (u32 i = 0; i < FLIPS; i++) {
		int file;

		if (i % 50 == 0)
			sample_build(&samples[i / 50 % 4], path);
		file = open(path, O_RDWR);
		assert_true(file >= 0);
		flip(file);
		if (!code_rows_read(file, &rows) && rows.count) {
			compare_looks(file, 200);
			read++;
		}
		close(file);
		forget();
	}
	assert_true(read > FLIPS / 10);
}

static void a_file_without_tables_has_no_rows(void **state)
{
	const struct sample bare = {"bare", "gcc -O1 -s $IN -o $OUT && objcopy -R .eh_frame $OUT",
				    sample_c, ".c"};
	int file = open("/dev/null", O_RDONLY);
	char path[SAMPLE_PATH_BYTES];

	(void)state;
	assert_int_equal(code_rows_read(file, &rows), -ENOEXEC);
	close(file);
	sample_build(&bare, path);
	file = open(path, O_RDONLY);
	code_rows_read(file, &rows);
	assert_int_equal(rows.count, 0);
	close(file);
	forget();
}

static int teardown(void **state)
{
	(void)state;
	sample_folder_remove();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(installed_files_have_the_rules_of_the_unwinder),
		cmocka_unit_test(programs_of_all_kinds_have_the_rules_of_the_unwinder),
		cmocka_unit_test(damaged_files_have_the_rules_of_the_unwinder_or_none),
		cmocka_unit_test(a_file_without_tables_has_no_rows),
	};

	if (elf_version(EV_CURRENT) == EV_NONE || !sample_folder_create())
		return 77;
	return cmocka_run_group_tests(tests, NULL, teardown);
}
