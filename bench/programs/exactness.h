/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that exactness.bpf.c shares with its loader. */
#ifndef BENCH_EXACTNESS_H
#define BENCH_EXACTNESS_H

#include "scalar.h"

/* depth of the call tree, with two calls in each node: 16,384 paths */
#define EXACTNESS_LEVELS 14
#define EXACTNESS_PATHS (1U << EXACTNESS_LEVELS)
/* frames of a stack: the leaf and all calls of a path */
#define EXACTNESS_DEPTH (EXACTNESS_LEVELS + 2)
#define EXACTNESS_THREADS 4
#define EXACTNESS_EVENTS_MAX (1U << 20)
#define EXACTNESS_BUCKETS 16384 /* max_entries of the map of type BPF_MAP_TYPE_STACK_TRACE */

struct exactness_result {
	s32 id;	    /* id in the stack map, or -errno */
	s32 bucket; /* id in BPF_MAP_TYPE_STACK_TRACE, or -errno */
};

#endif
