/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of Go's functions for arm64, with arm64's registers on any machine: Go's compiler makes the
 * program. .debug_frame of the same program has the same stack pointer and the same place of the
 * return address; it has no place of x29, and does not know of other stacks.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample_program.h"
#include "symbol/elf/elf_layout.h"
#include "symbol/elf/go_table.h"
#include "symbol/unwind/code_rows.h"
#include "unit_test.h"

#define INSTRUCTION 4

static const char source[] = "package main\n"
			     "import (\"fmt\"; \"os\")\n"
			     "//go:noinline\n"
			     "func leaf(x int) int { return x*3 + 1 }\n"
			     "//go:noinline\n"
			     "func small(x int) int { return leaf(x) + 1 }\n"
			     "//go:noinline\n"
			     "func large(x int) int {\n"
			     "	var room [2000]int\n"
			     "	for i := range room { room[i] = small(x) }\n"
			     "	return room[x]\n"
			     "}\n"
			     "func main() { fmt.Println(large(len(os.Args))) }\n";

static const struct sample sample = {"arm64",
				     "GOARCH=arm64 CGO_ENABLED=0 GOCACHE=$OUT.cache HOME=${OUT%/*} "
				     "GOFLAGS=-mod=mod go build -o $OUT "
				     "$IN && rm -rf $OUT.cache",
				     source, ".go"};

static struct program {
	Elf *elf;
	struct go_table table;
	struct elf_segments segments;
	struct code_rows rows, debug;
	struct file_spans spans, debug_spans;
	int file;
} program;

static u64 offset_of_address(u64 address)
{
	const struct elf_segment *segment = elf_segment_of_address(&program.segments, address);

	assert_non_null(segment);
	return segment->offset + address - segment->address;
}

static const struct unwind_rule *rule_at(u64 address)
{
	return code_rows_rule(&program.rows, offset_of_address(address));
}

static struct go_function function_named(const char *name)
{
	struct go_function function;

	for (u64 i = 0; i < program.table.functions; i++)
		if (go_function_read(&program.table, i, &function) && !strcmp(function.name, name))
			return function;
	fail_msg("no function %s", name);
	return function;
}

/* The number of instructions of a function whose rule is of this kind. */
static u32 count_rules(const char *name, enum cfa_kind kind)
{
	struct go_function function = function_named(name);
	u32 count = 0;

	for (u64 at = function.start; at < function.end; at += INSTRUCTION)
		count += rule_at(at) && rule_at(at)->cfa_kind == kind;
	return count;
}

static int program_open(void **state)
{
	const struct file_spans nothing = {};
	char path[SAMPLE_PATH_BYTES];

	(void)state;
	sample_build(&sample, path);
	program.file = open(path, O_RDONLY);
	assert_int_not_equal(elf_version(EV_CURRENT), EV_NONE);
	program.elf = elf_begin(program.file, ELF_C_READ, NULL);
	assert_non_null(program.elf);
	elf_segments_read(program.elf, &program.segments);
	assert_int_equal(go_table_read(program.elf, &program.table), 0);
	assert_int_equal(code_rows_read_go(program.file, &nothing, &program.rows, &program.spans),
			 0);
	assert_int_equal(code_rows_read_debug_frame(program.file, &nothing, &program.debug,
						    &program.debug_spans),
			 0);
	return 0;
}

static int program_close(void **state)
{
	(void)state;
	elf_end(program.elf);
	close(program.file);
	code_rows_clear(&program.rows);
	code_rows_clear(&program.debug);
	free(program.spans.spans);
	free(program.debug_spans.spans);
	return 0;
}

TEST_GROUP(program_open, program_close)

/* Bytes from the stack pointer to the return address; -1: x30 has it. */
static s64 return_distance(const struct unwind_rule *rule)
{
	u32 slot = rule->slot[SLOT_RETURN];

	if (!slot)
		return -1;
	return rule->base == RULE_BASE_CFA ? rule->cfa_offset - (s64)slot * 8
					   : RULE_BASE_BYTES - (s64)slot * 8;
}

TEST(compiled_functions_have_cfa_and_return_of_debug_frame)
{
	u32 compared = 0, in_register = 0, far = 0;

	assert_true(code_rows_are_sound(&program.rows));
	for (u64 i = 0; i < program.table.functions; i++) {
		struct go_function function;
		u8 flags;

		assert_true(go_function_read(&program.table, i, &function));
		assert_true(go_function_flags(&program.table, &function, &flags));
		if (flags || !strcmp(function.name, "runtime.sigpanic"))
			continue;
		for (u64 at = function.start; at < function.end; at += INSTRUCTION) {
			const struct unwind_rule *rule = rule_at(at), *other;

			other = code_rows_rule(&program.debug, offset_of_address(at));
			if (!rule || !other)
				continue;
			if (rule->cfa_register != REGISTER_SP || rule->cfa_kind ||
			    rule->cfa_offset != other->cfa_offset ||
			    return_distance(rule) != return_distance(other))
				fail_msg("%s+%llx", function.name,
					 (unsigned long long)(at - function.start));
			compared++;
			in_register += !rule->slot[SLOT_RETURN];
			far += rule->base == REGISTER_SP;
		}
	}
	printf("%u instructions\n", compared);
	assert_true(compared > 50000);
	assert_true(in_register > 1000);
	assert_true(far > 50);
}

/* x29 is the caller's until the function has stored it, at the word below sp. */
TEST(the_frame_pointer_lies_below_the_stack_pointer)
{
	struct go_function function = function_named("main.small");
	u32 kept = 0, stored = 0;

	for (u64 at = function.start; at < function.end; at += INSTRUCTION) {
		const struct unwind_rule *rule = rule_at(at);

		assert_non_null(rule);
		if (!rule->slot[SLOT_RETURN])
			continue;
		assert_int_equal(rule->slot[SLOT_RETURN] * 8, rule->cfa_offset);
		kept += !rule->slot[SLOT_FP];
		if (rule->slot[SLOT_FP]) {
			assert_int_equal(rule->slot[SLOT_FP], rule->slot[SLOT_RETURN] + 1);
			stored++;
		}
	}
	assert_int_equal(kept, 1);
	assert_true(stored > 3);
	/* too far from the CFA for a slot */
	function = function_named("main.large");
	assert_int_equal(rule_at(function.start)->slot[SLOT_RETURN], 0);
	for (u64 at = function.start; at < function.end; at += INSTRUCTION)
		if (rule_at(at)->slot[SLOT_RETURN]) {
			assert_int_equal(rule_at(at)->base, REGISTER_SP);
			assert_int_equal(rule_at(at)->slot[SLOT_RETURN], RULE_BASE_WORDS);
			assert_int_equal(rule_at(at)->slot[SLOT_FP], RULE_BASE_WORDS + 1);
		}
}

/* On the scheduler's stack. The rule of systemstack() is the goroutine's saved sp (Go 1.24 and
 * before) or x29 (Go 1.27). */
TEST(other_stacks_lead_back)
{
	struct go_function function = function_named("runtime.systemstack");
	u32 by_pointer = 0, outermost = 0;

	for (u64 at = function.start; at < function.end; at += INSTRUCTION)
		by_pointer += rule_at(at)->cfa_register == REGISTER_FP &&
			      rule_at(at)->flags & RULE_SWITCHED;
	assert_int_equal(!by_pointer, count_rules("runtime.systemstack", CFA_GO_SAVED) > 0);
	assert_in_range(count_rules("runtime.asmcgocall", CFA_GO_DEPTH), 5, 20);
	assert_in_range(count_rules("runtime.morestack", CFA_GO_SAVED), 2, 20);
	function = function_named("runtime.mcall");
	for (u64 at = function.start; at < function.end; at += INSTRUCTION)
		outermost += rule_at(at)->flags == RULE_OUTERMOST;
	assert_in_range(outermost, 5, 20);
	assert_int_equal(rule_at(function.start)->flags, 0);
}

/* Go's signal handler has pushed 16 bytes, and x30 is the interrupted pc. */
TEST(functions_that_a_signal_enters)
{
	struct go_function function = function_named("runtime.asyncPreempt");
	const struct unwind_rule *rule = rule_at(function.start);

	assert_int_equal(rule->flags, RULE_SIGNAL);
	assert_int_equal(rule->cfa_offset, 16);
	assert_int_equal(rule->slot[SLOT_RETURN], 0);
	rule = rule_at(function.start + 16 * INSTRUCTION);
	assert_int_equal(rule->flags, RULE_SIGNAL);
	assert_int_equal(return_distance(rule), 0);
	assert_int_equal(rule_at(function_named("runtime.sigpanic").start)->cfa_offset, 16);
}

/* The functions between morestack() and schedule() pass on what they get. */
TEST(the_scheduler_loses_the_frame_pointer)
{
	static const char *const passed_on[] = {"runtime.newstack", "runtime.preemptPark"};
	struct go_function function = function_named("runtime.schedule");

	for (u64 at = function.start; at < function.end; at += INSTRUCTION)
		if (rule_at(at)->slot[SLOT_RETURN] && rule_at(at)->slot[SLOT_FP])
			assert_int_equal(rule_at(at)->slot[SLOT_FP], SLOT_LOST);
	for (u32 i = 0; i < 2; i++) {
		function = function_named(passed_on[i]);
		for (u64 at = function.start; at < function.end; at += INSTRUCTION)
			assert_int_equal(rule_at(at)->slot[SLOT_FP], 0);
	}
}

int main(void)
{
	int failed;

	if (system("go version >/dev/null 2>&1")) {
		printf("no Go compiler here\n");
		return 77;
	}
	if (!sample_folder_create())
		return 77;
	failed = unit_tests_run();
	sample_folder_remove();
	return failed;
}
