/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls `leaf` below 42 frames. */
#ifndef BENCH_UNWIND_WARM_STACK_H
#define BENCH_UNWIND_WARM_STACK_H

long warm_stack_framed(void (*leaf)(void));   /* compiled with frame pointers */
long warm_stack_unframed(void (*leaf)(void)); /* compiled without frame pointers */

#endif
