/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Rows of other sections than .eh_frame: .debug_frame has the same rows as .eh_frame of the same
 * program, and Go's pcln table the same rows as Go's .debug_frame. Damaged sections give some rows
 * or none. */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_program.h"
#include "symbol/unwind/code_rows.h"
#include "unit_test.h"

#define FLIPS 200

#define BOTH                                                                                       \
	"echo '__asm__(\".cfi_sections .eh_frame, .debug_frame\");' >$OUT.h; "                     \
	"gcc -O1 -g -fno-toplevel-reorder -include $OUT.h $IN -o $OUT "

static const char go_source[] = "package main\n"
				"import (\"fmt\"; \"sort\")\n"
				"//go:noinline\n"
				"func leaf(x int) int { return x*3 + 1 }\n"
				"//go:noinline\n"
				"func deep(n int, s []int) int {\n"
				"	var room [20]int\n"
				"	room[n&15] = leaf(n)\n"
				"	if n > 0 { return deep(n-1, room[:]) + s[0] }\n"
				"	return room[3]\n"
				"}\n"
				"func main() {\n"
				"	s := []int{3, 1, 2}\n"
				"	sort.Ints(s)\n"
				"	fmt.Println(deep(5, s))\n"
				"}\n";

static int open_sample(const struct sample *sample, char path[SAMPLE_PATH_BYTES])
{
	int file;

	sample_build(sample, path);
	file = open(path, O_RDONLY);
	assert_true(file >= 0);
	return file;
}

/* Finds the rule at an offset; NULL: no row. */
static const struct unwind_rule *rule_at(const struct code_rows *rows, u32 offset)
{
	u32 rule = 0;

	for (u32 i = 0; i < rows->count && rows->rows[i].offset <= offset; i++)
		rule = rows->rows[i].rule;
	return rule ? &rows->rules[rule - 1] : NULL;
}

static void rows_free(struct code_rows *rows, struct file_spans *spans)
{
	code_rows_clear(rows);
	free(spans->spans);
	*spans = (struct file_spans){};
}

TEST(a_section_for_debuggers_says_the_same)
{
	static const struct sample samples[] = {
		{"plain", BOTH, sample_c, ".c"},
		{"zlib", BOTH "-gz=zlib", sample_c, ".c"},
		{"zstd",
		 BOTH "&& { objcopy --compress-debug-sections=zstd $OUT 2>/dev/null || true; }",
		 sample_c, ".c"},
	};

	for (u32 i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		struct code_rows tables = {}, rows = {};
		struct file_spans covered = {}, found = {};
		const struct file_spans nothing = {};
		char path[SAMPLE_PATH_BYTES];
		int file = open_sample(&samples[i], path);

		assert_int_equal(code_rows_read_tables(file, &tables, &covered), 0);
		assert_int_equal(code_rows_read_debug_frame(file, &nothing, &rows, &found), 0);
		assert_true(rows.count > 5 && found.count > 1);
		for (u32 row = 0; row < rows.count; row++) {
			const struct unwind_rule *rule = rule_at(&rows, rows.rows[row].offset);

			if (rule)
				assert_memory_equal(rule, rule_at(&tables, rows.rows[row].offset),
						    sizeof(*rule));
		}
		rows_free(&rows, &found);
		rows_free(&tables, &covered);
		close(file);
	}
}

/* The file has the same code without .eh_frame. */
TEST(functions_that_no_other_table_covers_have_rows)
{
	static const struct sample sample = {
		"only", "gcc -O1 -g -fno-asynchronous-unwind-tables -fno-unwind-tables $IN -o $OUT",
		sample_c, ".c"};
	struct code_rows rows = {}, debug = {};
	struct file_spans found = {};
	const struct file_spans nothing = {};
	char path[SAMPLE_PATH_BYTES];
	int file = open_sample(&sample, path);

	assert_int_equal(code_rows_read_debug_frame(file, &nothing, &debug, &found), 0);
	assert_int_equal(code_rows_read(file, &rows), 0);
	assert_true(code_rows_are_sound(&rows));
	assert_true(debug.count > 5);
	for (u32 row = 0; row < debug.count; row++) {
		const struct unwind_rule *rule = rule_at(&debug, debug.rows[row].offset);

		if (rule)
			assert_memory_equal(rule, rule_at(&rows, debug.rows[row].offset),
					    sizeof(*rule));
	}
	rows_free(&debug, &found);
	code_rows_clear(&rows);
	close(file);
}

/* Go's tables are read in files for x86-64 only. */
static bool has_go_for_x86_64(void)
{
#ifdef __x86_64__
	bool has = !system("go version >/dev/null 2>&1");

	if (!has)
		printf("no Go compiler here\n");
	return has;
#else
	printf("Go builds for a machine whose tables of Go are not read\n");
	return false;
#endif
}

#define GO_BUILD                                                                                   \
	"GOCACHE=$OUT.cache HOME=${OUT%/*} GOFLAGS=-mod=mod go build -o $OUT $IN; rm -rf "         \
	"$OUT.cache"

static const struct sample go_sample = {"go", GO_BUILD, go_source, ".go"};

/* Functions on another stack have a special rule or none; functions where stacks begin have a depth
 * in .debug_frame. */
TEST(a_pcln_table_says_what_the_section_for_debuggers_says)
{
	struct code_rows rows = {}, debug = {};
	struct file_spans covered = {}, found = {};
	const struct file_spans nothing = {};
	char path[SAMPLE_PATH_BYTES];
	u32 by_pointer = 0, compared = 0, outermost = 0, lost = 0, saved = 0, suspended = 0;
	u32 by_depth = 0;
	int file;

	if (!has_go_for_x86_64())
		skip();
	file = open_sample(&go_sample, path);
	assert_int_equal(code_rows_read_go(file, &nothing, &rows, &found), 0);
	assert_int_equal(code_rows_read_debug_frame(file, &nothing, &debug, &covered), 0);
	assert_true(code_rows_are_sound(&rows));
	for (u32 i = 0; i < rows.count; i++) {
		const struct unwind_rule *rule = rule_at(&rows, rows.rows[i].offset);
		const struct unwind_rule *other = rule_at(&debug, rows.rows[i].offset);

		if (!rule || !other)
			continue;
		outermost += rule->flags == RULE_OUTERMOST;
		saved += rule->cfa_kind == CFA_GO_SAVED && !rule->slot[GO_SLOT_RBP];
		suspended += rule->cfa_kind == CFA_GO_SAVED && rule->slot[GO_SLOT_RBP];
		by_depth += rule->cfa_kind == CFA_GO_DEPTH;
		by_pointer += rule->cfa_register == REGISTER_FP;
		lost += rule->slot[SLOT_RETURN] == SLOT_LOST;
		if (rule->flags || rule->cfa_register != REGISTER_SP || rule->cfa_kind ||
		    rule->slot[SLOT_RETURN] == SLOT_LOST)
			continue;
		assert_int_equal(rule->cfa_register, other->cfa_register);
		assert_int_equal(rule->cfa_offset, other->cfa_offset);
		compared++;
	}
	assert_true(compared > 2000);
	assert_in_range(outermost, 2, 50);
	assert_in_range(by_pointer, 1, 50);
	assert_in_range(lost, 1, 50);
	/* systemstack() has the goroutine's rsp, or from Go 1.21 on its rbp; morestack() and
	 * asmcgocall() are one function each. */
	assert_in_range(saved, 0, 1);
	assert_int_equal(suspended, 1);
	assert_int_equal(by_depth, 1);
	rows_free(&rows, &found);
	rows_free(&debug, &covered);
	close(file);
}

/* No read leaves the section, and all rules can be executed. */
static void damaged_sections_have_some_rows_or_none(const struct sample *sample)
{
	char path[SAMPLE_PATH_BYTES];
	struct stat status;
	u8 *program;
	int file;

	sample_build(sample, path);
	file = open(path, O_RDWR);
	assert_int_equal(fstat(file, &status), 0);
	program = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	assert_ptr_not_equal(program, MAP_FAILED);
	for (u32 i = 0; i < FLIPS; i++) {
		u64 at = (u64)rand() % status.st_size;
		struct code_rows rows = {};
		u8 kept = program[at];

		program[at] ^= 1U << rand() % 8;
		if (!code_rows_read(file, &rows))
			assert_true(code_rows_are_sound(&rows));
		code_rows_clear(&rows);
		program[at] = kept;
	}
	munmap(program, status.st_size);
	close(file);
}

TEST(damaged_debug_frames)
{
	static const struct sample sample = {"damaged", BOTH "-gz=zlib", sample_c, ".c"};

	damaged_sections_have_some_rows_or_none(&sample);
}

TEST(damaged_pcln_tables)
{
	if (!has_go_for_x86_64())
		skip();
	damaged_sections_have_some_rows_or_none(&go_sample);
}

int main(void)
{
	int failed;

	if (!sample_folder_create())
		return 77;
	srand(30);
	failed = unit_tests_run();
	sample_folder_remove();
	return failed;
}
