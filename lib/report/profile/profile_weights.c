/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Off-CPU events are recorded for their time: the number of waits says little. Events weigh
 * their value by default where the value has a unit; addresses have no sum. */
#include "profile_weights.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool has_values(const struct trace_source *source)
{
	return source->extras & TRACE_EXTRA_VALUE &&
	       strcmp(source->value_unit, TRACE_UNIT_ADDRESS) != 0;
}

static enum profile_weight weight_of(const struct trace_source *source, const char *by)
{
	if (by)
		return strcmp(by, "value") == 0 && has_values(source) ? WEIGHT_VALUE : WEIGHT_COUNT;
	return has_values(source) && source->value_unit[0] ? WEIGHT_VALUE : WEIGHT_COUNT;
}

static int alloc_weights(u32 source_count, struct profile_weights *weights)
{
	*weights = (struct profile_weights){
		.by = calloc(source_count + 1UL, sizeof(*weights->by)),
		.totals = calloc(source_count + 1UL, sizeof(u64)),
		.counts = calloc(source_count + 1UL, sizeof(u64)),
	};
	if (weights->by && weights->totals && weights->counts)
		return 0;
	profile_weights_clear(weights);
	return -ENOMEM;
}

int profile_weigh(struct profile *profile, const struct trace_source *sources, u32 source_count,
		  const char *by, struct profile_weights *weights)
{
	struct profile_weights made;

	if (alloc_weights(source_count, &made))
		return -ENOMEM;
	for (u32 i = 0; i < source_count; i++)
		made.by[i] = weight_of(&sources[i], by);
	for (u32 i = 0; i < profile->row_count; i++) {
		const struct profile_row *row = profile->rows[i];

		made.totals[row->kind] += profile_row_weight(row, made.by[row->kind]);
		made.counts[row->kind] += row->count;
	}
	profile_sort(profile, made.by, made.totals);
	*weights = made;
	return 0;
}

void profile_weights_clear(struct profile_weights *weights)
{
	free(weights->by);
	free(weights->totals);
	free(weights->counts);
	*weights = (struct profile_weights){0};
}
