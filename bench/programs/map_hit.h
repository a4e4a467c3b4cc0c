/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that map_hit.bpf.c shares with its loader. */
#ifndef BENCH_MAP_HIT_H
#define BENCH_MAP_HIT_H

#include "scalar.h"

#define MAP_HIT_DEPTH 10 /* frames */
/* turns per measured round: short, so that some rounds see no interrupt */
#define MAP_HIT_ROUND 250

enum map_hit_subject { MAP_HIT_NOTHING, MAP_HIT_STACK, MAP_HIT_MAP, MAP_HIT_STACKID };

struct map_hit_control {
	u64 tgid;	/* in: the process whose signal starts a round */
	u64 subject;	/* in: enum map_hit_subject */
	u64 elapsed_ns; /* out: time of the round; 0: no round has run */
	u64 failures;	/* out: number of turns in which the subject failed */
};

#endif
