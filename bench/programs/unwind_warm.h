/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that unwind_warm.bpf.c shares with its loader. */
#ifndef BENCH_UNWIND_WARM_H
#define BENCH_UNWIND_WARM_H

#include "../../tests/unwind/listed_mappings.h"

#define WARM_ROUND 200 /* turns per measured round */

enum warm_subject {
	WARM_NOTHING,
	WARM_LEARN,  /* not measured: the whole unwinder, which fills the cache of rules; the direct
			walk must then give the same frames */
	WARM_KERNEL, /* bpf_get_stack, by frame pointers */
	WARM_DIRECT, /* the direct walk, by cached steps */
	WARM_RULES,  /* the direct walk by rules alone, as when the event has interrupted another
			program */
};

struct warm_control {
	u64 tgid;	/* in: the process whose signal starts a round */
	u64 subject;	/* in: enum warm_subject */
	u64 depth;	/* in: frames to take */
	u64 elapsed_ns; /* out: time of the round; 0: no round has run */
	u64 failures;	/* out: turns with a wrong number of frames, or with wrong frames */
	u64 stop;	/* out: enum stop_reason of the last turn */
	struct listed_mappings mappings;
};

#endif
