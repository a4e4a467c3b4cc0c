// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The thread-local variable of OTEP 4947: in the program, or in a library. */
#include "spans_published.h"

#include <stdatomic.h>

__attribute__((visibility("default"))) __thread struct published *volatile otel_thread_ctx_v1;

void publish(struct published *record)
{
	atomic_signal_fence(memory_order_seq_cst);
	otel_thread_ctx_v1 = record;
	atomic_signal_fence(memory_order_seq_cst);
}
