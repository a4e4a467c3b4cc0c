/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Programs of a tracepoint run in the order in which they came, and the last to come goes first. */
#include "capture/load/attach_field_value.h"

#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "capture/load/skeleton.h"

static int program_fd(const struct attachment *attachment, u32 set, enum program program)
{
	return program_set_event_fd(&attachment->sets[set], program);
}

/* The perf event itself counts nothing: the record is made for the program. */
int attach_field_value(struct attachment *attachment, const struct source *source, u32 kind)
{
	struct placement at = attachment->placements[kind];
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = source->tracepoint,
		.disabled = 1,
	};
	int event = program_fd(attachment, at.set, PROGRAM_FIELD_VALUE);
	int call = program_fd(attachment, at.call_set, PROGRAM_FIELD_CALL);
	int result = link_perf_event(&attachment->links, &attr, -1, 0, event, kind);

	return result ?: link_raw_tracepoint(&attachment->links, source->target, call, false, 0);
}

struct totals {
	u64 skipped;
	u64 ahead;
};

static void add_source(int fd, u32 kind, bool in_order, struct field_runs *runs,
		       struct totals *totals)
{
	if (bpf_map_lookup_elem(fd, &kind, runs))
		return;
	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		totals->skipped += runs[cpu].skipped + (in_order ? runs[cpu].unsure : 0);
		totals->ahead += (s64)runs[cpu].ahead > 0 ? runs[cpu].ahead : 0;
	}
}

static struct totals add_up(const struct attachment *attachment)
{
	struct field_runs *runs = calloc(libbpf_num_possible_cpus(), sizeof(*runs));
	int fd = bpf_map__fd(attachment->sets[0].object->maps.field_runs);
	bool in_order = attachment->placements;
	struct totals totals = {};

	for (u32 kind = 0; runs && kind < attachment->sources->count; kind++) {
		const struct source *source = &attachment->sources->sources[kind];

		if (source->type == SOURCE_TRACEPOINT)
			add_source(fd, kind, in_order, runs, &totals);
	}
	free(runs);
	return totals;
}

static u64 call_misses(const struct attachment *attachment)
{
	u64 misses = 0;

	for (u32 i = 0; i < attachment->set_count; i++)
		if (attachment->sets[i].programs & PROGRAM_FIELD_CALL)
			misses += program_recursion_misses(
				program_fd(attachment, i, PROGRAM_FIELD_CALL));
	return misses;
}

u64 attach_field_value_skipped(const struct attachment *attachment, u64 misses)
{
	struct totals totals = add_up(attachment);
	u64 paired = call_misses(attachment);

	paired = paired < totals.ahead ? paired : totals.ahead;
	return totals.skipped + misses - paired;
}
