/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef LIB_TRACE_LEDGER_SUM_H
#define LIB_TRACE_LEDGER_SUM_H

#include "trace/event.h"

/* Adds the ledger of a later window of the same recording. Events add up; notes cover the whole
 * time up to each window, so the later notes replace the earlier ones. */
void ledger_add(struct trace_ledger *sum, const struct trace_ledger *ledger);

#endif
