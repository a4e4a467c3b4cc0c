/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program of exactness and its loader agree on. */
#ifndef BENCH_EXACTNESS_H
#define BENCH_EXACTNESS_H

#include "scalar.h"

#define EXACTNESS_LEVELS 14 /* two ways at each: 16,384 paths */
#define EXACTNESS_PATHS (1U << EXACTNESS_LEVELS)
#define EXACTNESS_DEPTH (EXACTNESS_LEVELS + 2) /* frames: the leaf, and all calls */
#define EXACTNESS_THREADS 4
#define EXACTNESS_EVENTS_MAX (1U << 20)
#define EXACTNESS_BUCKETS 16384 /* of the peer */

struct exactness_result {
	s32 id;	    /* of the stack map, or -errno */
	s32 bucket; /* of BPF_MAP_TYPE_STACK_TRACE, or -errno */
};

#endif
