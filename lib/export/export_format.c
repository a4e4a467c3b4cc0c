/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The list of export formats, in the order in which the user sees them. */
#include "export_format.h"

#include <stddef.h>
#include <string.h>

const struct export_format *const export_formats[] = {
	&folded_format,	       &json_format,	    &pprof_format,  &otlp_format,
	&speedscope_format,    &perf_script_format, &chrome_format, &perfetto_format,
	&stack_map_bin_format, &mappings_format,    NULL,
};

const struct export_format *export_format_find(const char *name)
{
	for (const struct export_format *const *format = export_formats; *format; format++)
		if (strcmp((*format)->name, name) == 0)
			return *format;
	return NULL;
}

static const struct {
	const char *unit, *word;
} words[] = {
	{"ns", "nanoseconds"}, {"us", "microseconds"}, {"ms", "milliseconds"},
	{"s", "seconds"},      {"bytes", "bytes"},
};

const char *value_unit_word(const char *unit)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strcmp(unit, words[i].unit) == 0)
			return words[i].word;
	return NULL;
}

struct file_append {
	ProtobufCBuffer base; /* first member: protobuf-c gets its address */
	FILE *to;
};

static void append_to_file(ProtobufCBuffer *buffer, size_t bytes, const uint8_t *data)
{
	fwrite(data, 1, bytes, ((struct file_append *)buffer)->to);
}

void export_pack_to_file(const ProtobufCMessage *message, FILE *to)
{
	struct file_append file = {.base.append = append_to_file, .to = to};

	protobuf_c_message_pack_to_buffer(message, &file.base);
}
