/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the program of user_cold and its loader agree on. */
#ifndef BENCH_USER_COLD_H
#define BENCH_USER_COLD_H

#include "scalar.h"

#define COLD_DEPTH 20 /* frames of user_cold_process at its system call */

struct cold_control {
	u64 tgid;	/* in: whose system call is unwound */
	u64 is_direct;	/* in: at the event itself */
	u64 elapsed_ns; /* out: of the unwinding; 0: it did not happen */
	u32 depth;	/* out */
	u32 stop;	/* out: enum stop_reason */
};

#endif
