/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes small recordings into a folder, each as the writer makes it and once more with
 * uncompressed blocks. The fuzz target uses them as seeds: changes of uncompressed blocks reach the
 * columns. read_by_page.py reads them, too.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "recording.h"
#include "trace_file.h"

#define SEEDS 9 /* the last three are summaries */
#define SUMMARIES_FROM 6

static u8 raw[TRACE_BLOCK_RAW_MAX];

static u32 checksum_of(const struct trace_block_header *header)
{
	size_t start = offsetof(struct trace_block_header, type);
	uLong checksum = crc32(0, (const u8 *)header + start, (uInt)(sizeof(*header) - start));

	return (u32)crc32(checksum, raw, header->raw_bytes);
}

static size_t expand(struct trace_block_header *header, const u8 *payload, FILE *out)
{
	size_t stored = header->stored_bytes;

	if (header->coding == TRACE_CODING_ZSTD &&
	    ZSTD_decompress(raw, sizeof(raw), payload, stored) != header->raw_bytes)
		abort();
	if (header->coding == TRACE_CODING_PLAIN)
		memcpy(raw, payload, stored);
	header->coding = TRACE_CODING_PLAIN;
	header->stored_bytes = header->raw_bytes;
	header->checksum = checksum_of(header);
	fwrite(header, sizeof(*header), 1, out);
	fwrite(raw, header->raw_bytes, 1, out);
	return sizeof(*header) + stored;
}

static void write_expanded(const char *path, const char *expanded_path)
{
	FILE *out = fopen(expanded_path, "we");
	size_t bytes;
	u8 *data = file_read(path, &bytes);

	if (!out)
		abort();
	fwrite(data, sizeof(struct trace_file_header), 1, out);
	for (size_t offset = sizeof(struct trace_file_header); offset < bytes;) {
		struct trace_block_header header;

		memcpy(&header, data + offset, sizeof(header));
		offset += expand(&header, data + offset + sizeof(header), out);
	}
	free(data);
	if (fclose(out))
		abort();
}

static void write_seed(const char *folder, u32 i)
{
	struct recording_shape shape = {
		.seed = i,
		.cpus = 1 + i % 3,
		.sources = 4,
		.stacks = 3 * i,
		.full_stacks = i / 2,
		.tasks = i,
		.symbols = 2 * i,
		.events = 10 * i,
		.flush_every = i % 2 * 10,
		.placeholders = i % 2 * i,
		.is_summary = i >= SUMMARIES_FROM,
		.times = i < SUMMARIES_FROM ? i / 2 * 3 : 0,
		.contexts = i == 1 || i == 5 ? i : 0,
		.has_attributes = i == 5,
		.has_further = i == 2 || i == 5,
		.has_losses = i == 3 || i == 5,
		.has_aggregates = i == 3,
	};
	struct recording *recording = recording_create(&shape);
	char path[512], expanded_path[512];

	snprintf(path, sizeof(path), "%s/%u", folder, i);
	snprintf(expanded_path, sizeof(expanded_path), "%s/%u-plain", folder, i);
	if (recording_write(recording, path, NULL, NULL))
		abort();
	write_expanded(path, expanded_path);
	recording_free(&recording);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	for (u32 i = 0; i < SEEDS; i++)
		write_seed(argv[1], i);
	return 0;
}
