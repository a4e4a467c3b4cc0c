/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwinds snapshots of a process that knows its own call chain, after the process was killed; and
 * untrusted input: changed files, damaged files, snapshots that contradict themselves.
 *
 * Arguments: builds of chain.c without frame pointers, the second one static.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stopped.h"
#include "unit_test.h"
#include "user_unwind/user_unwinder.h"

#define DAMAGES 1500

static const char *program, *static_program;
static struct stopped stopped;
static struct user_unwinder *unwinder;
static struct unwound_stack stack;
static char copy[64];

static void create(struct rule_cache *rules, u32 max_depth)
{
	const struct user_unwinder_options options = {
		.mapping = stopped_record,
		.argument = &stopped,
		.rules = rules,
		.max_depth = max_depth,
	};

	user_unwinder_free(&unwinder);
	assert_int_equal(user_unwinder_create(&options, &unwinder), 0);
}

static int set_up(void **state)
{
	(void)state;
	create(NULL, STACK_USER_DEPTH_MAX);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	stopped_end(&stopped);
	user_unwinder_free(&unwinder);
	if (copy[0])
		unlink(copy);
	copy[0] = 0;
	return 0;
}

static void run(const char *path)
{
	stopped_start(&stopped, path);
}

/* Runs a copy of the program, whose file the test may damage. */
static void run_copy(void)
{
	char command[4352];
	int fd;

	strcpy(copy, "/tmp/user-unwind-XXXXXX");
	fd = mkstemp(copy);
	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "cp '%s' %s && chmod 700 %s", program, copy, copy);
	assert_int_equal(system(command), 0);
	run(copy);
}

static void unwind(void)
{
	memset(&stack, 0xa5, sizeof(stack));
	assert_int_equal(user_unwinder_unwind(unwinder, &stopped.raw, &stack), 0);
	assert_true(stack.depth <= STACK_USER_DEPTH_MAX);
}

static void assert_chain_at(u32 first)
{
	assert_true(first + CHAIN_LENGTH <= stack.depth);
	for (u32 i = 0; i < CHAIN_LENGTH; i++)
		assert_int_equal(stack.frame[first + i],
				 stopped_frame(&stopped, stopped.chain.address[i]));
}

static void assert_complete(void)
{
	assert_int_equal(stack.flags, STACK_USER);
	assert_int_equal(stack.frame[0], stopped_frame(&stopped, stopped.raw.value[REGISTER_RIP]));
}

static void assert_stops(u32 stop)
{
	assert_int_equal(stack.flags, STACK_USER | stop << STACK_STOP_SHIFT);
}

TEST(chain_is_found_after_the_process_is_gone, set_up, tear_down)
{
	run(program);
	stopped_end(&stopped);
	unwind();
	assert_complete();
	assert_chain_at(1);
	assert_true(stack.depth > 1 + CHAIN_LENGTH);
}

TEST(chain_of_a_static_program_is_found, set_up, tear_down)
{
	run(static_program);
	stopped_end(&stopped);
	unwind();
	assert_complete();
	assert_chain_at(1);
}

TEST(the_vdso_is_read_from_this_process, set_up, tear_down)
{
	u32 first = 1;

	run(program);
	stopped_step_to_vdso(&stopped);
	stopped_end(&stopped);
	unwind();
	assert_complete();
	assert_int_equal(FRAME_MAPPING(stack.frame[0]), stopped.vdso);
	while (first < stack.depth &&
	       stack.frame[first] != stopped_frame(&stopped, stopped.chain.address[0]))
		first++;
	assert_chain_at(first);
	assert_true(first <= 3);
}

TEST(depth_limit_marks_the_stack, set_up, tear_down)
{
	create(NULL, 2);
	run(program);
	stopped_end(&stopped);
	unwind();
	assert_int_equal(stack.depth, 2);
	assert_int_equal(stack.flags, STACK_USER | STACK_TRUNCATED);
}

TEST(short_copy_ends_the_stack, set_up, tear_down)
{
	run(program);
	stopped_end(&stopped);
	stopped.raw.stack_bytes = 256;
	unwind();
	assert_stops(STOP_STACK_UNREADABLE);
	assert_true(stack.depth >= 1);
}

/* Arrays on the stack have such pages: a walk that reads none of them goes on. */
TEST(only_a_missing_page_that_is_read_ends_the_stack, set_up, tear_down)
{
	run(program);
	stopped_end(&stopped);
	stopped.raw.missing = ~0ULL;
	unwind();
	assert_stops(STOP_STACK_UNREADABLE);
	stopped.raw.missing = 1ULL << 63;
	unwind();
	assert_int_equal(stack.flags, STACK_USER);
}

TEST(living_process_supplies_what_is_not_copied, set_up, tear_down)
{
	run(program);
	stopped.raw.stack_bytes = 0;
	unwind();
	assert_stops(STOP_STACK_UNREADABLE);
	stopped.raw.flags = RAW_ALIVE;
	unwind();
	assert_complete();
	assert_chain_at(1);
}

TEST(pc_outside_code_is_a_frame_of_no_mapping, set_up, tear_down)
{
	run(program);
	stopped_end(&stopped);
	stopped.raw.value[REGISTER_RIP] = 0x1234;
	unwind();
	assert_stops(STOP_NOT_CODE);
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.frame[0], FRAME_USER(MAPPING_UNKNOWN, 0x1234));
}

TEST(mapping_that_did_not_fit_is_not_missing_code, set_up, tear_down)
{
	run(program);
	stopped_end(&stopped);
	stopped.raw.mapping_count = 1;
	stopped.raw.flags = RAW_SOME_MAPPINGS;
	unwind();
	assert_stops(STOP_BUDGET);
}

TEST(replaced_file_is_not_used, set_up, tear_down)
{
	char other[320];

	run_copy();
	stopped_end(&stopped);
	snprintf(other, sizeof(other), "cp %s %s.new && mv %s.new %s", copy, copy, copy, copy);
	assert_int_equal(system(other), 0);
	unwind();
	assert_int_equal(stack.depth, 1);
	assert_stops(STOP_TABLE_UNREADABLE);
}

TEST(known_rules_need_no_file, set_up, tear_down)
{
	struct rule_cache *rules = calloc(1, sizeof(*rules));

	assert_non_null(rules);
	create(rules, STACK_USER_DEPTH_MAX);
	run_copy();
	stopped_end(&stopped);
	unwind();
	assert_complete();
	assert_int_equal(unlink(copy), 0);
	create(rules, STACK_USER_DEPTH_MAX);
	unwind();
	assert_complete();
	assert_chain_at(1);
	user_unwinder_free(&unwinder);
	free(rules);
}

/* A living process may replace the bytes of its mapping: only its own stack can become wrong. */
/* The table of every file: no code has a caller. */
static int outermost_chunk(void *argument, u64 key, struct file_table_chunk *chunk)
{
	static const struct unwind_rule rule = {.flags = RULE_OUTERMOST};
	u32 index = key;

	(void)argument;
	*chunk = (struct file_table_chunk){.count = 1, .base = 1, .first = index};
	if (index == 2)
		chunk->word[0] = FILE_TABLE_ROW(0, 1);
	if (index == 3)
		memcpy(chunk->word, &rule, sizeof(rule));
	return index <= 3 ? 0 : -ENOENT;
}

TEST(table_of_the_file_comes_before_tables_of_the_process, set_up, tear_down)
{
	struct rule_cache *rules = calloc(1, sizeof(*rules));
	const struct user_unwinder_options options = {
		.mapping = stopped_record,
		.argument = &stopped,
		.rules = rules,
		.chunk = outermost_chunk,
		.max_depth = STACK_USER_DEPTH_MAX,
	};

	assert_non_null(rules);
	user_unwinder_free(&unwinder);
	assert_int_equal(user_unwinder_create(&options, &unwinder), 0);
	run(program);
	unwind();
	assert_int_equal(stack.depth, 1);
	assert_int_equal(stack.flags, STACK_USER);
	free(rules);
}

TEST(memory_in_place_of_a_file_makes_no_rules, set_up, tear_down)
{
	static const struct rule_cache empty;
	struct rule_cache *rules = calloc(1, sizeof(*rules));

	assert_non_null(rules);
	create(rules, STACK_USER_DEPTH_MAX);
	run(program);
	for (u32 number = 1; number <= stopped.raw.mapping_count; number++)
		stopped.record[number].key.inode++;
	stopped.raw.flags = RAW_ALIVE;
	unwind();
	assert_complete();
	assert_chain_at(1);
	assert_memory_equal(rules, &empty, sizeof(empty));
	user_unwinder_free(&unwinder);
	free(rules);
}

TEST(deleted_file_is_found_through_the_living_process, set_up, tear_down)
{
	run_copy();
	assert_int_equal(unlink(copy), 0);
	unwind();
	assert_complete();
	assert_chain_at(1);
}

/* Gives a changed file its former identity. */
static void keep_identity(const struct stat *before)
{
	const struct timespec times[2] = {before->st_atim, before->st_mtim};

	assert_int_equal(utimensat(AT_FDCWD, copy, times, 0), 0);
}

TEST(a_truncated_file_kills_no_process, set_up, tear_down)
{
	struct stat before;

	run_copy();
	stopped_end(&stopped);
	assert_int_equal(stat(copy, &before), 0);
	assert_int_equal(truncate(copy, 4096), 0);
	keep_identity(&before);
	unwind();
	assert_int_equal(stack.depth, 1);
	assert_stops(STOP_TABLE_UNREADABLE);
}

static u64 next_random(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Damages the file; half of the damage hits the program headers. */
static void damage(int fd, u64 bytes, u64 *seed)
{
	for (u32 i = 0; i < 20; i++) {
		u64 value = next_random(seed);
		u64 at = next_random(seed) % (i % 2 ? bytes - 8 : 1024);

		assert_int_equal(pwrite(fd, &value, 1 + i % 8, at), 1 + i % 8);
	}
}

/* For any content of a file, the unwinder ends with frames and a reason. */
TEST(damaged_file_is_read_safely, set_up, tear_down)
{
	struct stat before;
	u64 seed = 88172645463325252ULL;
	char *whole;
	int fd;

	run_copy();
	stopped_end(&stopped);
	assert_int_equal(stat(copy, &before), 0);
	whole = malloc(before.st_size);
	fd = open(copy, O_RDWR);
	assert_true(whole && fd >= 0);
	assert_int_equal(pread(fd, whole, before.st_size, 0), before.st_size);
	for (u32 i = 0; i < DAMAGES; i++) {
		assert_int_equal(pwrite(fd, whole, before.st_size, 0), before.st_size);
		damage(fd, before.st_size, &seed);
		keep_identity(&before);
		create(NULL, STACK_USER_DEPTH_MAX);
		unwind();
		assert_true(stack.depth >= 1);
	}
	close(fd);
	free(whole);
}

/* A traced program can give its registers and its stack any content. */
TEST(random_registers_are_unwound_safely, set_up, tear_down)
{
	u64 seed = 362436069ULL;

	run(program);
	stopped_end(&stopped);
	for (u32 i = 0; i < DAMAGES; i++) {
		struct stopped saved = stopped;

		for (u32 j = 0; j < 4; j++)
			stopped.raw.value[next_random(&seed) % REGISTER_COUNT] = next_random(&seed);
		for (u32 j = 0; j < 64; j++)
			stopped.raw.stack[next_random(&seed) % 4096] = next_random(&seed);
		stopped.raw.stack_start -= next_random(&seed) % 64;
		unwind();
		stopped = saved;
	}
}

TEST(contradictory_stacks_are_refused, set_up, tear_down)
{
	run(program);
	stopped_end(&stopped);
	stopped.raw.mapping_count = RAW_MAPPINGS_MAX + 1;
	assert_int_equal(user_unwinder_unwind(unwinder, &stopped.raw, &stack), -EINVAL);
	stopped.raw.mapping_count = 0;
	stopped.raw.stack_bytes = RAW_STACK_BYTES_MAX + 1;
	assert_int_equal(user_unwinder_unwind(unwinder, &stopped.raw, &stack), -EINVAL);
}

TEST(wrong_options_are_refused, set_up, tear_down)
{
	struct user_unwinder_options options = {.mapping = stopped_record, .max_depth = 0};
	struct user_unwinder *none = (struct user_unwinder *)1;

	assert_int_equal(user_unwinder_create(&options, &none), -EINVAL);
	options.max_depth = STACK_WALK_DEPTH_MAX + 1;
	assert_int_equal(user_unwinder_create(&options, &none), -EINVAL);
	assert_ptr_equal(none, (struct user_unwinder *)1);
}

int main(int argc, char **argv)
{
	if (argc != 3)
		return 2;
	program = argv[1];
	static_program = argv[2];
	return unit_tests_run();
}
