/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The call tree of one event source: who calls whom, outermost function first. A node's count is
 * that of all events whose stack passes through it from the root on; `self` is that of those that
 * end there, so
 *
 *   count = self + sum of the children's counts
 */
#ifndef LIB_REPORT_CALLTREE_H
#define LIB_REPORT_CALLTREE_H

#include "profile.h"

struct calltree_node {
	const char *name;
	u64 count;
	u64 self;
	struct calltree_node *first_child; /* hottest first */
	struct calltree_node *next;
};

/* *out is the root: its name is "", it stands for all events of the source. */
int calltree_create(const struct profile *profile, u32 kind, struct calltree_node **out);
void calltree_free(struct calltree_node **root);

#endif
