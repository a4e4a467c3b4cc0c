/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that exactness.bpf.c shares with its loader. */
#ifndef BENCH_EXACTNESS_H
#define BENCH_EXACTNESS_H

#include "scalar.h"

#define EXACTNESS_LEVELS 14 /* of the call tree, two calls at each: 16,384 paths */
#define EXACTNESS_PATHS (1U << EXACTNESS_LEVELS)
#define EXACTNESS_DEPTH (EXACTNESS_LEVELS + 2) /* frames of a stack: the leaf and all calls */
#define EXACTNESS_THREADS 4
#define EXACTNESS_EVENTS_MAX (1U << 20)
#define EXACTNESS_BUCKETS 16384 /* of BPF_MAP_TYPE_STACK_TRACE */

struct exactness_result {
	s32 id;	    /* of the stack map, or -errno */
	s32 bucket; /* of BPF_MAP_TYPE_STACK_TRACE, or -errno */
};

#endif
