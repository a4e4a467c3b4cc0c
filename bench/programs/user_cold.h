/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Data that user_cold.bpf.c shares with its loader. */
#ifndef BENCH_USER_COLD_H
#define BENCH_USER_COLD_H

#include "scalar.h"

#define COLD_DEPTH 20 /* frames of user_cold_process at its system call */

struct cold_control {
	u64 tgid;	/* in: the process whose system call is unwound */
	u64 is_direct;	/* in: unwind at the event itself, not in the callback */
	u64 elapsed_ns; /* out: time of the unwinding; 0: no unwinding happened */
	u32 depth;	/* out: frames */
	u32 stop;	/* out: enum stop_reason */
};

#endif
