/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the programs of map_hit and their loader agree on. */
#ifndef BENCH_MAP_HIT_H
#define BENCH_MAP_HIT_H

#include "scalar.h"

#define MAP_HIT_DEPTH 10 /* frames */
#define MAP_HIT_ROUND                                                                              \
	250 /* turns per measured round: short, so that some rounds see no interrupt */

enum map_hit_subject { MAP_HIT_NOTHING, MAP_HIT_STACK, MAP_HIT_MAP, MAP_HIT_STACKID };

struct map_hit_control {
	u64 tgid;	/* in: whose signal starts a round */
	u64 subject;	/* in: enum map_hit_subject */
	u64 elapsed_ns; /* out: of the round; 0 = it did not run */
	u64 failures;	/* out: turns that did not do their work */
};

#endif
