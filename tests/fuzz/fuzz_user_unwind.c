/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libFuzzer target of the unwinder that works on a copy: any registers, stack, mappings and file of
 * code give a stack within the limits, or -EINVAL. The input has a struct fuzz_user_unwind_input,
 * then the stack, then a file, which all mappings map.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_user_unwind.h"
#include "user_unwind/readers.h"
#include "user_unwind/user_unwinder.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

static struct {
	const u8 *data;
	size_t bytes;
} file;

static struct rule_cache rules;

/* Replaces lib/user_unwind/readers.c: the file comes from the input, and no process is read. */
int readers_create(struct readers **out)
{
	*out = NULL;
	return 0;
}

void readers_free(struct readers **readers)
{
	(void)readers;
}

void readers_drop_process_owners(struct readers *readers)
{
	(void)readers;
}

u32 readers_worker_pids(const struct readers *readers, u32 *pids)
{
	(void)readers;
	(void)pids;
	return 0;
}

int readers_open(struct readers *readers, const struct reader_file *seen)
{
	int fd = memfd_create("fuzzed", MFD_CLOEXEC);

	(void)readers;
	if (seen->record->key.kind != MAPPING_FILE)
		abort();
	if (fd < 0 || write(fd, file.data, file.bytes) != (ssize_t)file.bytes)
		abort();
	return fd;
}

int readers_read_page(struct readers *readers, const struct reader_file *seen, u64 index,
		      void *page)
{
	(void)readers;
	(void)seen;
	(void)index;
	(void)page;
	abort();
}

bool readers_read_memory(struct readers *readers, u32 tid, u32 tgid, u64 address, void *buffer,
			 u32 bytes)
{
	(void)readers;
	(void)tid;
	(void)tgid;
	(void)address;
	(void)buffer;
	(void)bytes;
	return false;
}

static const struct mapping_record *mapping(void *argument, u32 number)
{
	static const struct mapping_record records[] = {
		{.key.kind = MAPPING_FILE},
		{.key.kind = MAPPING_VDSO},
		{.key.kind = MAPPING_ANON},
	};

	(void)argument;
	return number % 4 < 3 ? &records[number % 4] : NULL;
}

/* A raw stack with all its members from the input, except that no process is read. */
static struct raw_stack *raw_stack_of(const struct fuzz_user_unwind_input *input, const u8 *stack,
				      u32 stack_bytes)
{
	struct raw_stack *raw = calloc(1, RAW_STACK_SIZE(stack_bytes));

	if (!raw)
		abort();
	raw->flags = input->flags;
	raw->stack_start = input->stack_start;
	raw->stack_bytes = stack_bytes;
	raw->mapping_count = input->mapping_count % (2 * FUZZ_USER_UNWIND_MAPPINGS);
	memcpy(raw->value, input->value, sizeof(raw->value));
	for (u32 i = 0; i < FUZZ_USER_UNWIND_MAPPINGS; i++)
		raw->mapping[i] = input->mapping[i];
	return raw;
}

static void check(const struct unwound_stack *stack)
{
	if (stack->depth > STACK_USER_DEPTH_MAX || STACK_STOP(stack->flags) >= STOP_COUNT)
		abort();
	for (u32 i = 0; i < stack->depth; i++)
		if (FRAME_IS_KERNEL(stack->frame[i]))
			abort();
}

static void unwind(const struct raw_stack *raw)
{
	const struct user_unwinder_options options = {
		.mapping = mapping, .rules = &rules, .max_depth = STACK_USER_DEPTH_MAX};
	struct unwound_stack stack;
	struct user_unwinder *unwinder;

	if (user_unwinder_create(&options, &unwinder))
		abort();
	memset(&rules, 0, sizeof(rules));
	for (int i = 0; i < 2; i++)
		if (user_unwinder_unwind(unwinder, raw, &stack))
			abort();
		else
			check(&stack);
	user_unwinder_free(&unwinder);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct fuzz_user_unwind_input input;
	struct raw_stack *raw;
	u32 stack_bytes;

	if (bytes < sizeof(input))
		return 0;
	memcpy(&input, data, sizeof(input));
	data += sizeof(input);
	bytes -= sizeof(input);
	stack_bytes = input.stack_bytes < bytes ? input.stack_bytes : bytes;
	raw = raw_stack_of(&input, data, stack_bytes);
	file.data = data + stack_bytes;
	file.bytes = bytes - stack_bytes;
	unwind(raw);
	free(raw);
	return 0;
}
