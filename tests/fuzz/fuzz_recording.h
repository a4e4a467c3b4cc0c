/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Makes a recording of any bytes, for fuzzers. Random changes would all fail at a checksum, so the
 * checksums are corrected first, and the fuzzer reaches the code behind them.
 */
#ifndef TESTS_FUZZ_RECORDING_H
#define TESTS_FUZZ_RECORDING_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "trace_file.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

struct repaired_file {
	int fd; /* the caller closes it */
	char path[32];
};

static inline void repair_file_header(u8 *data)
{
	u32 checksum = (u32)crc32(0, data, offsetof(struct trace_file_header, checksum));

	memcpy(data + offsetof(struct trace_file_header, checksum), &checksum, sizeof(checksum));
}

static inline void repair_blocks(u8 *data, size_t bytes)
{
	size_t offset = sizeof(struct trace_file_header);
	size_t start = offsetof(struct trace_block_header, type);
	struct trace_block_header header;

	while (bytes - offset >= sizeof(header)) {
		memcpy(&header, data + offset, sizeof(header));
		if (header.stored_bytes > bytes - offset - sizeof(header))
			return;
		header.checksum = (u32)crc32(0, data + offset + start,
					     (uInt)(sizeof(header) - start + header.stored_bytes));
		memcpy(data + offset, &header, sizeof(header));
		offset += sizeof(header) + header.stored_bytes;
	}
}

static inline struct repaired_file repaired_file(const u8 *data, size_t bytes)
{
	struct repaired_file file = {.fd = memfd_create("recording", MFD_CLOEXEC)};
	u8 *copy = malloc(bytes + 1);

	if (file.fd < 0 || !copy)
		abort();
	memcpy(copy, data, bytes);
	if (bytes >= sizeof(struct trace_file_header)) {
		repair_file_header(copy);
		repair_blocks(copy, bytes);
	}
	if (write(file.fd, copy, bytes) != (ssize_t)bytes)
		abort();
	free(copy);
	snprintf(file.path, sizeof(file.path), "/proc/self/fd/%d", file.fd);
	return file;
}

#endif
