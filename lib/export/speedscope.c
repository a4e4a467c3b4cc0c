/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file format of speedscope (file-format-schema.json of its site): each event source has a
 * profile whose weights are numbers of events, and if the events have values a second profile whose
 * weights are sums of values. Equal stacks are one sample, so the size of the file is that of the
 * report, not that of the recording. The name of the task is the outermost frame, as in folded
 * stacks.
 *
 * The members of a JSON object may come in any order. The profiles are written first; the table of
 * frames follows, with the frames that the profiles use, numbered by first use.
 */
#include <errno.h>
#include <stdlib.h>

#include "array.h"
#include "error.h"
#include "export_format.h"
#include "format/json_text.h"
#include "report/profile/profile.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct frame_table {
	u32 *number; /* by label id: number of the frame from 1; 0: the label is not used yet */
	u32 label_room;
	u32 *labels; /* label ids; index: frame number - 1 */
	u32 count, room;
};

struct scope {
	const struct profile *profile;
	const struct trace_source *sources;
	u32 source_count;
	struct frame_table frames;
	u32 profiles; /* number of profiles written so far */
	FILE *to;
};

static int write_index_of_frame(struct scope *scope, u32 label, const char *before)
{
	struct frame_table *frames = &scope->frames;

	if (label == UINT32_MAX ||
	    array_make_zeroed(frames->number, label + 1, frames->label_room) ||
	    array_make_room(frames->labels, frames->count, frames->room))
		return -ENOMEM;
	if (!frames->number[label]) {
		frames->labels[frames->count++] = label;
		frames->number[label] = frames->count;
	}
	fprintf(scope->to, "%s%u", before, frames->number[label] - 1);
	return 0;
}

static int put_path_frames(struct scope *scope, const struct profile_path *path)
{
	const char *marker = profile_path_marker(path);
	int err = 0;

	if (marker)
		err = write_index_of_frame(
			scope, frame_names_intern_text(scope->profile->names, marker), ",");
	for (u32 i = path->depth; i-- > 0 && !err;)
		err = write_index_of_frame(scope, path->labels[i], ",");
	return err;
}

/* Returns the next row of the source from *at on, hottest first, or NULL. Samples and weights are
 * written in this order. */
static const struct profile_row *find_next_row(const struct profile *profile, u32 kind, u32 *at)
{
	while (*at < profile->row_count) {
		const struct profile_row *row = profile->rows[(*at)++];

		if (row->kind == kind)
			return row;
	}
	return NULL;
}

static u64 weight_of_profile_row_by_value(const struct profile_row *row, bool by_value)
{
	return by_value ? row->value : row->count;
}

static int put_samples(struct scope *scope, u32 kind)
{
	const struct profile_row *row;
	const char *before = "";
	int err = 0;

	fputs("\"samples\":[", scope->to);
	for (u32 at = 0; !err && (row = find_next_row(scope->profile, kind, &at)); before = ",") {
		const char *comm;

		fputs(before, scope->to);
		comm = row->comm[0] ? row->comm : "[unknown]";
		err = write_index_of_frame(
			scope, frame_names_intern_text(scope->profile->names, comm), "[");
		err = err ?: put_path_frames(scope, row->user);
		err = err ?: put_path_frames(scope, row->kernel);
		fputc(']', scope->to);
	}
	fputs("],\n", scope->to);
	return err;
}

static int put_profile(struct scope *scope, u32 kind, bool by_value)
{
	const struct trace_source *source = &scope->sources[kind];
	const char *unit = by_value ? value_unit_word(source->value_unit) : NULL;
	u64 sum = 0;
	char name[512];
	int err;
	const struct profile_row *row;
	const char *before = "";

	for (u32 at = 0; (row = find_next_row(scope->profile, kind, &at));)
		sum += weight_of_profile_row_by_value(row, by_value);
	if (!sum)
		return 0;
	snprintf(name, sizeof(name), "%s%s", source->name, by_value ? " (value)" : "");
	fputs(scope->profiles++ ? ",\n{\"type\":\"sampled\",\"name\":"
				: "{\"type\":\"sampled\",\"name\":",
	      scope->to);
	err = json_put_text(name, scope->to);
	fprintf(scope->to, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%llu,\n", unit ?: "none",
		(unsigned long long)sum);
	err = err ?: put_samples(scope, kind);
	fputs("\"weights\":[", scope->to);
	for (u32 at = 0; (row = find_next_row(scope->profile, kind, &at)); before = ",")
		fprintf(scope->to, "%s%llu", before,
			(unsigned long long)weight_of_profile_row_by_value(row, by_value));
	fputs("]}", scope->to);
	return err;
}

static int write_speedscope_json(struct scope *scope, const struct trace_info *info)
{
	int err;

	fputs("{\"$schema\":\"" SCHEMA "\",\n\"exporter\":\"stackmap\",\n\"name\":", scope->to);
	err = json_put_text(info->command, scope->to);
	fputs(",\n\"profiles\":[\n", scope->to);
	for (u32 kind = 0; kind < scope->source_count && !err && !ferror(scope->to); kind++) {
		err = put_profile(scope, kind, false);
		if (!err && scope->sources[kind].extras & TRACE_EXTRA_VALUE)
			err = put_profile(scope, kind, true);
	}
	if (err)
		return err;
	fputs("],\n\"shared\":{\"frames\":[\n", scope->to);
	for (u32 i = 0; i < scope->frames.count && !err; i++) {
		const char *object;

		fputs(i ? ",\n" : "", scope->to);
		object = frame_names_label_object(scope->profile->names, scope->frames.labels[i]);
		fputs("{\"name\":", scope->to);
		err = json_put_text(
			frame_names_label(scope->profile->names, scope->frames.labels[i]),
			scope->to);
		if (object && !err) {
			fputs(",\"file\":", scope->to);
			err = json_put_text(object, scope->to);
		}
		fputc('}', scope->to);
	}
	fputs("]}}\n", scope->to);
	return err;
}

static int speedscope_write(struct trace_reader *reader, const struct export_options *options,
			    FILE *to, struct stackmap_error *error)
{
	struct scope scope = {.to = to};
	struct profile *profile;
	int err = profile_create(reader, &options->filter, &options->naming, &profile, error);

	if (err)
		return err;
	scope.profile = profile;
	scope.source_count = trace_reader_sources(reader, &scope.sources);
	err = write_speedscope_json(&scope, trace_reader_info(reader));
	if (err)
		error_set(error, ENOMEM, "speedscope: not enough memory");
	free(scope.frames.number);
	free(scope.frames.labels);
	profile_free(&profile);
	return err;
}

const struct export_format speedscope_format = {
	.name = "speedscope",
	.write = speedscope_write,
};
