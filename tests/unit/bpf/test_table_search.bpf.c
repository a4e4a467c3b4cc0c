/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Searches tables that come and go, and compares each rule with the right one. */
#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>

#include "test_table_search.h"

#include "stack/table_chunks.h"

static long bpf_loop_body_that_does_nothing(u32 i, void *arg)
{
	return 0;
}

/* Finds a chunk and sometimes waits before the chunk is read, so that other processes can change
 * it. */
static __always_inline const struct file_table_chunk *
interrupted(const struct file_table_chunk *chunk)
{
	if (!(bpf_get_prandom_u32() % INTERRUPTED_ONE_IN))
		bpf_loop(INTERRUPTION, bpf_loop_body_that_does_nothing, NULL, 0);
	return chunk;
}

#define file_table_chunk(search, index) interrupted(file_table_chunk(search, index))
#include "unwind/table_search.c"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct file_table_search);
} searches SEC(".maps");

static long search_any(u32 i, struct search_count *count)
{
	u32 zero = 0, number = 1 + bpf_get_prandom_u32() % FILES;
	u32 row = bpf_get_prandom_u32() % ROWS(number);
	struct file_table_search *search = bpf_map_lookup_elem(&searches, &zero);

	if (!search)
		return 1;
	search->number = number;
	search->offset = SPACING * row + bpf_get_prandom_u32() % SPACING;
	if (!file_table_find(search))
		count->missing++;
	else if (search->rule.cfa_offset == CFA_OFFSET(number, row))
		count->found++;
	else
		count->wrong++;
	return 0;
}

/* The program may sleep and be interrupted anywhere. */
SEC("syscall")
int search_all(struct search_count *out)
{
	struct search_count count = {};

	bpf_loop(out->searches, search_any, &count, 0);
	out->found = count.found;
	out->missing = count.missing;
	out->wrong = count.wrong;
	return 0;
}
