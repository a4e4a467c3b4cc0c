/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/agent_labels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "product_version.h"
#include "terminal/message.h"

#define OWN 3

void agent_labels_tell(struct window_rows *rows, const struct string_list *given, u64 frequency,
		       u64 memory_bytes)
{
	const char **labels = calloc(given->count + OWN, sizeof(*labels));
	char rate[40], memory[40];
	u32 count = 0;

	if (!labels)
		return;
	for (size_t i = 0; i < given->count; i++)
		labels[count++] = given->items[i];
	snprintf(rate, sizeof(rate), "frequency=%llu", (unsigned long long)frequency);
	snprintf(memory, sizeof(memory), "memory_mib=%llu", (unsigned long long)memory_bytes >> 20);
	labels[count++] = "agent=" STACKMAP_VERSION;
	labels[count++] = memory;
	if (frequency)
		labels[count++] = rate;
	if (window_rows_label(rows, labels, count))
		message("agent: %s", strerror(ENOMEM));
	free(labels);
}
