/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the events of a question by host, service and version. The events may be limited to one
 * stack, or to one function anywhere in their stacks.
 *
 * A function's glob is matched here, against the store's names, both mangled and demangled.
 */
#ifndef LIB_STORE_READ_HOST_COUNTS_H
#define LIB_STORE_READ_HOST_COUNTS_H

#include "store/read/selection.h"

struct store_host_count {
	char *host, *service, *version, *event;
	u64 count, value;
};

struct store_host_counts {
	struct store_host_count *counts; /* most first */
	u32 count, room;
	u64 sum; /* sum of `count` */
};

struct host_wish {
	const u8 *stack;      /* 16 bytes, or NULL */
	const char *function; /* a glob, or NULL */
};

/* -ENOENT: no function of the store matches. */
int store_host_counts_read(struct shards *shards, const struct store_question *question,
			   const struct host_wish *wish, struct store_host_counts *counts,
			   struct stackmap_error *error);
void store_host_counts_clear(struct store_host_counts *counts);

#endif
