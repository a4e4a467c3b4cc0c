/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program of unwind_warm and its loader agree on. */
#ifndef BENCH_UNWIND_WARM_H
#define BENCH_UNWIND_WARM_H

#include "../../tests/unwind/listed_mappings.h"

#define WARM_ROUND 200 /* turns per measured round */

enum warm_subject {
	WARM_NOTHING,
	WARM_LEARN,  /* not measured: the whole unwinder, which leaves its rules in the cache; the
			direct  walk has to give the same frames then */
	WARM_KERNEL, /* bpf_get_stack, by frame pointers */
	WARM_DIRECT, /* the direct walk, by cached steps */
	WARM_RULES,  /* the same without these, as while another program is interrupted: by rules
			alone */
};

struct warm_control {
	u64 tgid;	/* in: whose signal starts a round */
	u64 subject;	/* in: enum warm_subject */
	u64 depth;	/* in: frames */
	u64 elapsed_ns; /* out: of the round; 0: it did not run */
	u64 failures;	/* out: turns that did not give as many frames, or other ones */
	u64 stop;	/* out: enum stop_reason of the last turn */
	struct listed_mappings mappings;
};

#endif
