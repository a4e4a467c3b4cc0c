/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A recording as one JSON object: the output of `report --json`, split by cgroup, and data of the
 * recording (command, host, start). */
#include <errno.h>

#include "error.h"
#include "export_format.h"
#include "format/json_text.h"

static int json_write(struct trace_reader *reader, const struct export_options *options, FILE *to,
		      struct stackmap_error *error)
{
	const struct trace_info *info = trace_reader_info(reader);
	const struct trace_source *sources;
	u32 count = trace_reader_sources(reader, &sources);
	struct profile *profile;
	json_t *recording, *described, *whole;
	int err = profile_create_split(reader, &options->filter, &options->naming, EVENTS_BY_CGROUP,
				       NULL, &profile, error);

	if (err)
		return err;
	recording =
		json_pack("{s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:I}", "command",
			  json_text(info->command), "hostname", json_text(info->hostname), "kernel",
			  json_text(info->kernel), "machine", json_text(info->machine), "version",
			  json_text(info->version), "start_ns", (json_int_t)info->start_realtime,
			  "frequency", (json_int_t)info->frequency, "cpus", (json_int_t)info->cpus);
	described = json_array();
	for (u32 i = 0; i < count; i++) {
		json_t *source = json_pack("{s:o, s:o}", "name", json_text(sources[i].name),
					   "value_unit", json_text(sources[i].value_unit));

		if (sources[i].extras & TRACE_EXTRA_FURTHER)
			json_object_set_new(source, "further_unit",
					    json_text(sources[i].further_unit));
		json_array_append_new(described, source);
	}
	whole = json_pack("{s:o, s:o, s:o, s:o}", "recording", recording, "ledger",
			  json_ledger(trace_reader_ledger(reader)), "sources", described, "stacks",
			  json_stacks(reader, profile, UINT64_MAX));
	profile_free(&profile);
	if (json_put(whole, to))
		return error_set(error, ENOMEM, "json: not enough memory");
	return 0;
}

const struct export_format json_format = {
	.name = "json",
	.write = json_write,
};
