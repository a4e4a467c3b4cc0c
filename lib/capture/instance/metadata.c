/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A user who can pin maps in the instance's folder can pin any map there. The value of the map is
 * therefore copied to private memory and checked. */
#include "capture/instance/metadata.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "clock.h"
#include "error.h"
#include "kept_records.h"
#include "ring.h"

static const char *unit_of_source_or_empty(const struct source *source)
{
	return source->unit ? source->unit : "";
}

static size_t count_text_bytes(const struct source_list *sources, const char *command)
{
	size_t bytes = strlen(command) + 1;

	for (u32 kind = 0; kind < sources->count; kind++) {
		const struct source *source = &sources->sources[kind];

		bytes += strlen(source->name) + 1 + strlen(unit_of_source_or_empty(source)) + 1;
	}
	return bytes;
}

static size_t size_of_header_and_source_records(u32 sources)
{
	return sizeof(struct metadata_header) + (size_t)sources * sizeof(struct metadata_source);
}

static void write_source_records(struct metadata_header *header, const struct source_list *sources,
				 const char *command)
{
	struct metadata_source *records = (void *)(header + 1);
	char *text = stpcpy((char *)&records[sources->count], command) + 1;

	for (u32 kind = 0; kind < sources->count; kind++) {
		const struct source *source = &sources->sources[kind];

		records[kind] = (struct metadata_source){
			.type = source->type,
			.frequency = source->frequency,
			.period = source->period,
		};
		text = stpcpy(text, source->name) + 1;
		text = stpcpy(text, unit_of_source_or_empty(source)) + 1;
	}
}

static int create_frozen_map(const void *value, size_t bytes)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "metadata", sizeof(u32), bytes, 1, NULL);
	u32 key = 0;
	int result;

	if (fd < 0)
		return fd;
	result = bpf_map_update_elem(fd, &key, value, BPF_ANY);
	result = result ?: bpf_map_freeze(fd);
	if (result)
		close(fd);
	return result ?: fd;
}

int metadata_write_to_new_map(const struct source_list *sources, bool address_shown,
			      const char *command, struct stackmap_error *error)
{
	size_t text = count_text_bytes(sources, command),
	       bytes = size_of_header_and_source_records(sources->count) + text;
	struct metadata_header *header = calloc(1, bytes);
	int result = -ENOMEM;

	if (header) {
		*header = (struct metadata_header){
			.version = METADATA_VERSION,
			.address_shown = address_shown,
			.start_realtime = clock_ns(CLOCK_REALTIME),
			.start_monotonic = clock_ns(CLOCK_MONOTONIC),
			.sources = sources->count,
			.text_bytes = text,
		};
		write_source_records(header, sources, command);
		result = create_frozen_map(header, bytes);
		free(header);
	}
	if (result < 0)
		error_set(error, -result, "the map metadata: %s", strerror(-result));
	return result;
}

/* Reads the value of a map with the description of an instance; the caller frees *out. */
static int read_map_value(int fd, struct metadata_header **out, size_t *bytes)
{
	struct bpf_map_info info = {};
	struct metadata_header *value;
	u32 key = 0, info_bytes = sizeof(info);
	int result = bpf_obj_get_info_by_fd(fd, &info, &info_bytes);

	if (result)
		return result;
	if (info.type != BPF_MAP_TYPE_ARRAY || info.value_size < sizeof(*value))
		return -EINVAL;
	value = malloc(info.value_size);
	if (!value)
		return -ENOMEM;
	result = bpf_map_lookup_elem(fd, &key, value);
	if (result) {
		free(value);
		return result;
	}
	*bytes = info.value_size;
	*out = value;
	return 0;
}

/* The string that follows the string `text` in memory; NULL: `text` is the last string before
 * `end`. */
static const char *next_string_of_metadata(const char *text, const char *end)
{
	text += strlen(text) + 1;
	return text < end ? text : NULL;
}

/* Reads a source. Its name and unit are the two strings that follow the string *text; *text becomes
 * the unit. */
static int parse_source(struct source *source, const struct metadata_source *record,
			const char **text, const char *end)
{
	const char *name = next_string_of_metadata(*text, end);
	const char *unit = name ? next_string_of_metadata(name, end) : NULL;

	if (!unit || record->type > SOURCE_WAKER)
		return -EINVAL;
	*text = unit;
	*source = (struct source){
		.type = record->type,
		.name = strdup(name),
		.unit = unit[0] ? strdup(unit) : NULL,
		.frequency = record->frequency,
		.period = record->period,
	};
	return source->name && (source->unit || !unit[0]) ? 0 : -ENOMEM;
}

static int parse_metadata(struct metadata *metadata, const struct metadata_header *header,
			  size_t bytes)
{
	const struct metadata_source *records = (const void *)(header + 1);
	const char *text, *end;
	int result = 0;

	if (header->sources > KIND_SOURCES || !header->text_bytes ||
	    size_of_header_and_source_records(header->sources) + header->text_bytes != bytes ||
	    ((const char *)header)[bytes - 1])
		return -EINVAL;
	metadata->start_realtime = header->start_realtime;
	metadata->start_monotonic = header->start_monotonic;
	metadata->address_shown = header->address_shown;
	text = (const char *)&records[header->sources];
	end = text + header->text_bytes;
	metadata->command = strdup(text);
	metadata->sources.sources = calloc(header->sources + 1, sizeof(*metadata->sources.sources));
	if (!metadata->command || !metadata->sources.sources)
		return -ENOMEM;
	for (u32 kind = 0; kind < header->sources && !result; kind++)
		result = parse_source(&metadata->sources.sources[metadata->sources.count++],
				      &records[kind], &text, end);
	return result;
}

int metadata_read(int map_fd, struct metadata **out, struct stackmap_error *error)
{
	struct metadata *metadata = calloc(1, sizeof(*metadata));
	struct metadata_header *header = NULL;
	size_t bytes = 0;
	int result = metadata ? read_map_value(map_fd, &header, &bytes) : -ENOMEM;

	if (!result && header->version != METADATA_VERSION)
		result = -EPROTO;
	result = result ?: parse_metadata(metadata, header, bytes);
	if (result) {
		if (result == -EPROTO)
			error_set(
				error, EPROTO,
				"it was started by another version of stackmap: its format is %u, "
				"this one has %u",
				header->version, METADATA_VERSION);
		else
			error_set(error, -result,
				  "what the instance tells of itself (map metadata): %s",
				  strerror(-result));
		metadata_free(&metadata);
	} else {
		*out = metadata;
	}
	free(header);
	return result;
}

void metadata_free(struct metadata **metadata)
{
	struct metadata *gone = *metadata;

	if (!gone)
		return;
	source_list_clear(&gone->sources);
	free(gone->command);
	free(gone);
	*metadata = NULL;
}
