/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * libFuzzer target of the stack_map_bin reader: any bytes give stacks, an error, or both, and an
 * error about the bytes has an offset within them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/stack_map_bin_reader.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

/* Counts the bytes of the stack's frames, which must all have come from the file. */
static int count_bytes(void *arg, const struct stack_map_bin_stack *stack)
{
	size_t *seen = arg;
	u64 sum = 0;

	if (stack->version < 1 || stack->version > 2)
		abort();
	for (u32 i = 0; i < stack->depth; i++)
		sum ^= stack->frames[i];
	*seen += 16 + 8UL * stack->depth;
	return sum == 1;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	struct stackmap_error error;
	size_t seen = 16;
	FILE *from;
	int err;

	if (!bytes)
		return 0;
	from = fmemopen((void *)data, bytes, "r");
	if (!from)
		abort();
	err = stack_map_bin_read(from, count_bytes, &seen, &error);
	fclose(from);
	if (err != -EPROTONOSUPPORT && err != -EBADMSG && seen > bytes)
		abort();
	if (err == 0 && seen != bytes)
		abort();
	if (err < 0 && error.offset > bytes)
		abort();
	return 0;
}
