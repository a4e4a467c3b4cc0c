/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The stack_map_bin reader on files that the test makes: both versions, both byte orders, files cut
 * at every byte, and wrong fields. */
#include "format/stack_map_bin_reader.h"

#include <byteswap.h>
#include <errno.h>
#include <string.h>

#include "stack_map_bin.h"
#include "unit_test.h"

struct file {
	struct stack_map_bin_header header;
	struct stack_map_bin_record first;
	u64 first_frames[2];
	struct stack_map_bin_record second;
	struct stack_map_bin_record third;
	u64 third_frames[1];
};

static const struct file sample = {
	{STACK_MAP_BIN_MAGIC, 2, 3, 0}, {42, 2, 7, 0}, {0xffffffff81000010, 0x0000010000001020},
	{43, 0, 0xffffffff, 1},		{44, 1, 1, 0}, {0x1122334455667788},
};

struct seen {
	u32 count;
	struct stack_map_bin_stack stacks[4];
	u64 frames[4][2];
};

static int keep_frames_of_read_stack(void *arg, const struct stack_map_bin_stack *stack)
{
	struct seen *seen = arg;

	assert_true(seen->count < 4 && stack->depth <= 2);
	memcpy(seen->frames[seen->count], stack->frames, stack->depth * sizeof(u64));
	seen->stacks[seen->count++] = *stack;
	return 0;
}

static int read_bytes(const void *bytes, size_t size, struct seen *seen,
		      struct stackmap_error *error)
{
	FILE *from = fmemopen((void *)bytes, size ? size : 1, "r");
	int err;

	assert_non_null(from);
	if (!size)
		fgetc(from);
	*seen = (struct seen){0};
	err = stack_map_bin_read(from, keep_frames_of_read_stack, seen, error);
	fclose(from);
	return err;
}

static void swap_words(void *start, size_t bytes)
{
	for (u32 *word = start; bytes; word++, bytes -= sizeof(*word))
		*word = bswap_32(*word);
}

static struct file swapped_sample(void)
{
	struct file file = sample;

	swap_words(&file.header, sizeof(file.header));
	swap_words(&file.first, sizeof(file.first));
	swap_words(&file.second, sizeof(file.second));
	swap_words(&file.third, sizeof(file.third));
	for (int i = 0; i < 2; i++)
		file.first_frames[i] = bswap_64(file.first_frames[i]);
	file.third_frames[0] = bswap_64(file.third_frames[0]);
	return file;
}

static void check_sample(const struct seen *seen)
{
	assert_int_equal(seen->count, 3);
	assert_int_equal(seen->stacks[0].id, 42);
	assert_int_equal(seen->stacks[0].ref_count, 7);
	assert_false(seen->stacks[0].truncated);
	assert_memory_equal(seen->frames[0], sample.first_frames, sizeof(sample.first_frames));
	assert_int_equal(seen->stacks[1].depth, 0);
	assert_int_equal(seen->stacks[1].ref_count, 0xffffffff);
	assert_true(seen->stacks[1].truncated);
	assert_int_equal(seen->stacks[2].id, 44);
	assert_int_equal(seen->frames[2][0], sample.third_frames[0]);
}

TEST(native)
{
	struct seen seen;

	assert_int_equal(read_bytes(&sample, sizeof(sample), &seen, NULL), 0);
	check_sample(&seen);
	assert_int_equal(seen.stacks[0].version, 2);
}

TEST(other_byte_order)
{
	struct file file = swapped_sample();
	struct seen seen;

	assert_int_equal(read_bytes(&file, sizeof(file), &seen, NULL), 0);
	check_sample(&seen);
}

TEST(version_1)
{
	struct file file = sample;
	struct seen seen;

	file.header.magic = STACK_MAP_BIN_MAGIC_V1;
	file.header.version = 1;
	assert_int_equal(read_bytes(&file, sizeof(file), &seen, NULL), 0);
	check_sample(&seen);
	assert_int_equal(seen.stacks[0].version, 1);
}

TEST(count_is_only_a_hint)
{
	static const u32 counts[] = {0, 1, 0xffffffff};
	struct file file = sample;
	struct seen seen;

	for (int i = 0; i < 3; i++) {
		file.header.count = counts[i];
		assert_int_equal(read_bytes(&file, sizeof(file), &seen, NULL), 0);
		check_sample(&seen);
	}
}

/* The file may end only at the end of a stack; all whole stacks before a cut are read. */
TEST(every_cut)
{
	static const size_t ends[] = {
		offsetof(struct file, first),
		offsetof(struct file, second),
		offsetof(struct file, third),
		sizeof(struct file),
	};
	struct stackmap_error error;
	struct seen seen;

	for (size_t size = 0; size <= sizeof(sample); size++) {
		int err = read_bytes(&sample, size, &seen, &error);
		u32 whole = 0;

		while (whole < 4 && ends[whole] <= size)
			whole++;
		assert_int_equal(seen.count, whole ? whole - 1 : 0);
		if (whole && ends[whole - 1] == size) {
			assert_int_equal(err, 0);
			continue;
		}
		assert_int_equal(err, -EBADMSG);
		assert_true(!size || error.offset == size);
	}
}

TEST(wrong_fields)
{
	struct stackmap_error error;
	struct file file = sample;
	struct seen seen;

	file.header.magic ^= 1;
	assert_int_equal(read_bytes(&file, sizeof(file), &seen, &error), -EBADMSG);
	assert_int_equal(error.offset, 0);
	file = sample;
	file.header.version = 1;
	assert_int_equal(read_bytes(&file, sizeof(file), &seen, &error), -EPROTONOSUPPORT);
	assert_int_equal(error.offset, 4);
	file = sample;
	file.third.depth = STACK_MAP_BIN_DEPTH_MAX + 1;
	assert_int_equal(read_bytes(&file, sizeof(file), &seen, &error), -EBADMSG);
	assert_int_equal(error.offset, offsetof(struct file, third));
	assert_int_equal(seen.count, 2);
}

static int stop_early(void *arg, const struct stack_map_bin_stack *stack)
{
	(void)stack;
	return ++*(int *)arg == 2 ? 17 : 0;
}

TEST(stops_when_told)
{
	FILE *from = fmemopen((void *)&sample, sizeof(sample), "r");
	int calls = 0;

	assert_int_equal(stack_map_bin_read(from, stop_early, &calls, NULL), 17);
	assert_int_equal(calls, 2);
	fclose(from);
}
