/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Adds up ledgers. */
#include "trace/ledger_sum.h"

#include <string.h>

static void add(u64 *sums, const u64 *values, u32 count)
{
	while (count--)
		sums[count] += values[count];
}

void ledger_add(struct trace_ledger *sum, const struct trace_ledger *ledger)
{
	sum->produced += ledger->produced;
	sum->recorded += ledger->recorded;
	add(sum->lost, ledger->lost, LOST_COUNT);
	add(sum->kernel_reasons, ledger->kernel_reasons, REASON_COUNT);
	add(sum->user_reasons, ledger->user_reasons, REASON_COUNT);
	add(sum->user_stops, ledger->user_stops, STOP_COUNT);
	memcpy(sum->notes, ledger->notes, sizeof(sum->notes));
}
