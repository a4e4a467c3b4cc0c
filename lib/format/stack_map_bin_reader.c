/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The magic gives version and byte order at once, since each of the two magics is another number in
 * the other byte order. One buffer for the greatest depth holds the frames of each stack in turn.
 */
#include "stack_map_bin_reader.h"

#include <byteswap.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "stack_map_bin.h"

struct bin_reader {
	FILE *from;
	u64 offset;
	u32 version;
	bool swapped;
	u64 *frames;
	struct stackmap_error *error;
};

/*
 * Reads `bytes` bytes, or fails with an error that names `what`, inside which the file ends, or why
 * the stream failed. `optional`: the end of the file is valid here and gives 1.
 */
static int read_bytes_of_binary_file(struct bin_reader *reader, void *to, size_t bytes,
				     const char *what, bool optional)
{
	size_t got;
	int code;

	errno = 0;
	got = fread(to, 1, bytes, reader->from);
	code = errno ? errno : EIO;
	if (got == bytes) {
		reader->offset += bytes;
		return 0;
	}
	if (ferror(reader->from))
		return error_set_at(reader->error, code, reader->offset,
				    "byte %llu cannot be read: %s",
				    (unsigned long long)reader->offset, strerror(code));
	if (optional && got == 0)
		return 1;
	return error_set_at(reader->error, EBADMSG, reader->offset + got,
			    "ends at byte %llu, inside %s",
			    (unsigned long long)(reader->offset + got), what);
}

static u32 to_native_u32(const struct bin_reader *reader, u32 value)
{
	return reader->swapped ? bswap_32(value) : value;
}

static int set_version_by_magic(struct bin_reader *reader, u32 magic)
{
	reader->swapped =
		magic == bswap_32(STACK_MAP_BIN_MAGIC) || magic == bswap_32(STACK_MAP_BIN_MAGIC_V1);
	switch (to_native_u32(reader, magic)) {
	case STACK_MAP_BIN_MAGIC:
		reader->version = STACK_MAP_BIN_VERSION;
		return 0;
	case STACK_MAP_BIN_MAGIC_V1:
		reader->version = 1;
		return 0;
	default:
		return error_set_at(reader->error, EBADMSG, 0,
				    "not a stack_map_bin file: it starts with 0x%08x", magic);
	}
}

static int read_header(struct bin_reader *reader)
{
	struct stack_map_bin_header header;
	u32 version;
	int err = read_bytes_of_binary_file(reader, &header, sizeof(header), "the header", false);

	if (!err)
		err = set_version_by_magic(reader, header.magic);
	if (err)
		return err;
	version = to_native_u32(reader, header.version);
	if (version == reader->version)
		return 0;
	return error_set_at(
		reader->error, EPROTONOSUPPORT, offsetof(struct stack_map_bin_header, version),
		"version %u of this magic is not known, only %u is", version, reader->version);
}

/* Reads one stack. 0; 1 at the end; or -errno. */
static int read_stack(struct bin_reader *reader, struct stack_map_bin_stack *stack)
{
	struct stack_map_bin_record record;
	u64 start = reader->offset;
	int err = read_bytes_of_binary_file(reader, &record, sizeof(record), "the head of a stack",
					    true);

	if (err)
		return err;
	*stack = (struct stack_map_bin_stack){
		.version = reader->version,
		.id = to_native_u32(reader, record.stack_id),
		.ref_count = to_native_u32(reader, record.ref_count),
		.depth = to_native_u32(reader, record.depth),
		.truncated = to_native_u32(reader, record.flags) & 1,
		.frames = reader->frames,
	};
	if (stack->depth > STACK_MAP_BIN_DEPTH_MAX)
		return error_set_at(reader->error, EBADMSG, start,
				    "damaged at byte %llu: a stack with %u frames",
				    (unsigned long long)start, stack->depth);
	err = read_bytes_of_binary_file(reader, reader->frames, stack->depth * sizeof(u64),
					"a stack", false);
	for (u32 i = 0; !err && reader->swapped && i < stack->depth; i++)
		reader->frames[i] = bswap_64(reader->frames[i]);
	return err;
}

static int read_header_and_stacks(struct bin_reader *reader,
				  int (*each)(void *arg, const struct stack_map_bin_stack *stack),
				  void *arg)
{
	struct stack_map_bin_stack stack;
	int err = read_header(reader);

	while (!err) {
		err = read_stack(reader, &stack);
		if (!err)
			err = each(arg, &stack);
		else if (err == 1)
			return 0;
	}
	return err;
}

int stack_map_bin_read(FILE *from, int (*each)(void *arg, const struct stack_map_bin_stack *stack),
		       void *arg, struct stackmap_error *error)
{
	struct bin_reader reader = {.from = from, .error = error};
	int err;

	reader.frames = malloc(STACK_MAP_BIN_DEPTH_MAX * sizeof(u64));
	if (!reader.frames)
		return error_set(error, ENOMEM, "not enough memory");
	err = read_header_and_stacks(&reader, each, arg);
	free(reader.frames);
	return err;
}
