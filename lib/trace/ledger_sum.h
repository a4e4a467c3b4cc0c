/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_TRACE_LEDGER_SUM_H
#define LIB_TRACE_LEDGER_SUM_H

#include "trace/event.h"

/* Of two windows of one recording, the later one last: events add up, notes are of the whole time
 * in each. */
void ledger_add(struct trace_ledger *sum, const struct trace_ledger *ledger);

#endif
