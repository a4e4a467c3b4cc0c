/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Seals and opens blocks. The compressor is flushed at the end of each column, so every column gets
 * its own zstd block with its own entropy table. A payload that does not shrink is stored plain.
 * Each length in the file is checked against the file's size and the format's limits before memory
 * of this length is allocated.
 */
#include "trace/block/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "error.h"

#define COMPRESSION_LEVEL 1

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "fixed-width fields go out as they are");

size_t block_builder_bytes(const struct block_builder *builder)
{
	size_t bytes = 0;

	for (u32 i = 0; i < builder->columns; i++)
		bytes += builder->column[i].used;
	return bytes;
}

void block_builder_clear(struct block_builder *builder)
{
	for (u32 i = 0; i < builder->columns; i++)
		byte_buffer_clear(&builder->column[i]);
	builder->records = 0;
}

void block_builder_free(struct block_builder *builder)
{
	for (u32 i = 0; i < builder->columns; i++)
		byte_buffer_free(&builder->column[i]);
}

static u32 block_checksum(const struct trace_block_header *header, const u8 *payload)
{
	size_t skipped = offsetof(struct trace_block_header, type);
	uLong checksum = crc32(0, (const u8 *)header + skipped, (uInt)(sizeof(*header) - skipped));

	return (u32)crc32(checksum, payload, header->stored_bytes);
}

struct block_sealer {
	ZSTD_CCtx *zstd;
	struct byte_buffer lengths;
	struct byte_buffer out;
};

int block_sealer_create(struct block_sealer **out)
{
	struct block_sealer *sealer = calloc(1, sizeof(*sealer));

	if (!sealer)
		return -ENOMEM;
	sealer->zstd = ZSTD_createCCtx();
	if (!sealer->zstd) {
		block_sealer_free(&sealer);
		return -ENOMEM;
	}
	ZSTD_CCtx_setParameter(sealer->zstd, ZSTD_c_compressionLevel, COMPRESSION_LEVEL);
	*out = sealer;
	return 0;
}

void block_sealer_free(struct block_sealer **sealer)
{
	if (!*sealer)
		return;
	ZSTD_freeCCtx((*sealer)->zstd);
	byte_buffer_free(&(*sealer)->lengths);
	byte_buffer_free(&(*sealer)->out);
	free(*sealer);
	*sealer = NULL;
}

static bool compress_column(struct block_sealer *sealer, const struct byte_buffer *part,
			    ZSTD_outBuffer *output, ZSTD_EndDirective directive)
{
	ZSTD_inBuffer input = {.src = part->data, .size = part->used};
	size_t left = ZSTD_compressStream2(sealer->zstd, output, &input, directive);

	return left == 0 && input.pos == input.size;
}

/* Appends the compressed columns to the output. False if the columns do not shrink. */
static bool compress_columns(struct block_sealer *sealer, const struct block_builder *builder,
			     ZSTD_outBuffer *output)
{
	ZSTD_CCtx_reset(sealer->zstd, ZSTD_reset_session_only);
	if (!compress_column(sealer, &sealer->lengths, output, ZSTD_e_continue) && output->pos)
		return false;
	for (u32 i = 0; i < builder->columns; i++) {
		bool last = i + 1 == builder->columns;

		if (!last && !builder->column[i].used)
			continue;
		if (!compress_column(sealer, &builder->column[i], output,
				     last ? ZSTD_e_end : ZSTD_e_flush))
			return false;
	}
	return true;
}

static int append_payload(struct block_sealer *sealer, const struct block_builder *builder,
			  size_t raw, enum trace_coding *coding)
{
	size_t start = sizeof(struct trace_block_header);
	ZSTD_outBuffer output = {.size = raw};

	byte_buffer_clear(&sealer->out);
	if (!byte_buffer_reserve(&sealer->out, start + raw))
		return -ENOMEM;
	sealer->out.used = start;
	output.dst = sealer->out.data + start;
	*coding =
		compress_columns(sealer, builder, &output) ? TRACE_CODING_ZSTD : TRACE_CODING_PLAIN;
	if (*coding == TRACE_CODING_ZSTD)
		sealer->out.used += output.pos;
	else
		byte_buffer_append(&sealer->out, sealer->lengths.data, sealer->lengths.used);
	for (u32 i = 0; i < builder->columns && *coding == TRACE_CODING_PLAIN; i++)
		byte_buffer_append(&sealer->out, builder->column[i].data, builder->column[i].used);
	return 0;
}

int block_seal(struct block_sealer *sealer, const struct block_builder *builder, u32 sequence,
	       const u8 **bytes, size_t *count)
{
	struct trace_block_header header;
	enum trace_coding coding;
	bool failed = false;
	size_t raw;

	byte_buffer_clear(&sealer->lengths);
	for (u32 i = 0; i < builder->columns; i++) {
		byte_buffer_varint(&sealer->lengths, builder->column[i].used);
		failed |= builder->column[i].failed;
	}
	if (failed || sealer->lengths.failed)
		return -ENOMEM;
	raw = sealer->lengths.used + block_builder_bytes(builder);
	if (raw > TRACE_BLOCK_RAW_MAX)
		return -E2BIG;
	if (append_payload(sealer, builder, raw, &coding))
		return -ENOMEM;
	header = (struct trace_block_header){
		.magic = TRACE_BLOCK_MAGIC,
		.type = builder->type,
		.coding = (u8)coding,
		.cpu = builder->cpu,
		.sequence = sequence,
		.stored_bytes = (u32)(sealer->out.used - sizeof(header)),
		.raw_bytes = (u32)raw,
		.records = builder->records,
		.columns = builder->columns,
		.first_time = builder->first_time,
		.last_time = builder->last_time,
	};
	header.checksum = block_checksum(&header, sealer->out.data + sizeof(header));
	memcpy(sealer->out.data, &header, sizeof(header));
	*bytes = sealer->out.data;
	*count = sealer->out.used;
	return 0;
}

struct block_opener {
	ZSTD_DCtx *zstd;
	struct trace_block_header header;
	struct byte_buffer stored;
	struct byte_buffer raw;
};

int block_opener_create(struct block_opener **out)
{
	struct block_opener *opener = calloc(1, sizeof(*opener));

	if (!opener)
		return -ENOMEM;
	opener->zstd = ZSTD_createDCtx();
	if (!opener->zstd) {
		block_opener_free(&opener);
		return -ENOMEM;
	}
	*out = opener;
	return 0;
}

void block_opener_free(struct block_opener **opener)
{
	if (!*opener)
		return;
	ZSTD_freeDCtx((*opener)->zstd);
	byte_buffer_free(&(*opener)->stored);
	byte_buffer_free(&(*opener)->raw);
	free(*opener);
	*opener = NULL;
}

static int read_all_bytes(int fd, void *data, size_t bytes, u64 offset,
			  struct stackmap_error *error)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t n = pread(fd, (u8 *)data + done, bytes - done, (off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return error_set_at(error, errno, offset, "cannot be read at byte %llu: %s",
					    (unsigned long long)offset, strerror(errno));
		if (n == 0)
			return error_set_at(error, EBADMSG, offset,
					    "ends within the block at byte %llu",
					    (unsigned long long)offset);
		done += (size_t)n;
	}
	return 0;
}

static int set_damage_error(u64 offset, const char *why, struct stackmap_error *error)
{
	return error_set_at(error, EBADMSG, offset, "damaged at byte %llu: %s",
			    (unsigned long long)offset, why);
}

/* Returns a fault in a header with a correct checksum, or NULL. */
static const char *find_header_fault(const struct trace_block_header *header)
{
	if (header->type >= TRACE_BLOCK_TYPE_COUNT)
		return "the block is of an unknown type";
	if (header->coding > TRACE_CODING_ZSTD)
		return "the block is coded in an unknown way";
	if (header->coding == TRACE_CODING_PLAIN && header->raw_bytes != header->stored_bytes)
		return "the block's lengths disagree";
	if (header->columns > TRACE_BLOCK_COLUMNS_MAX)
		return "the block has too many columns";
	if (header->records > header->raw_bytes)
		return "the block has more records than bytes";
	return NULL;
}

static int load_block_header(struct block_opener *opener, int fd, u64 offset, u64 end,
			     struct stackmap_error *error)
{
	int err;

	if (end - offset < sizeof(opener->header))
		return set_damage_error(offset, "the file ends within a block", error);
	err = read_all_bytes(fd, &opener->header, sizeof(opener->header), offset, error);
	if (err)
		return err;
	if (opener->header.magic != TRACE_BLOCK_MAGIC)
		return set_damage_error(offset, "no block starts here", error);
	if (opener->header.raw_bytes > TRACE_BLOCK_RAW_MAX ||
	    opener->header.stored_bytes > TRACE_BLOCK_RAW_MAX)
		return set_damage_error(offset, "the block is too large", error);
	if (end - offset - sizeof(opener->header) < opener->header.stored_bytes)
		return set_damage_error(offset, "the file ends within a block", error);
	return 0;
}

int block_load(struct block_opener *opener, int fd, u64 offset, u64 end,
	       struct trace_block_header *header, struct stackmap_error *error)
{
	const char *nonsense;
	int err = load_block_header(opener, fd, offset, end, error);

	if (err)
		return err;
	byte_buffer_clear(&opener->stored);
	if (!byte_buffer_reserve(&opener->stored, opener->header.stored_bytes))
		return error_set(error, ENOMEM, "no memory for a block");
	opener->stored.used = opener->header.stored_bytes;
	err = read_all_bytes(fd, opener->stored.data, opener->stored.used,
			     offset + sizeof(opener->header), error);
	if (err)
		return err;
	if (block_checksum(&opener->header, opener->stored.data) != opener->header.checksum)
		return set_damage_error(offset, "the block's checksum is wrong", error);
	nonsense = find_header_fault(&opener->header);
	if (nonsense)
		return set_damage_error(offset, nonsense, error);
	*header = opener->header;
	return 0;
}

static int decompress_block(struct block_opener *opener, u64 offset, struct stackmap_error *error)
{
	size_t raw_bytes = opener->header.raw_bytes;
	size_t got;

	byte_buffer_clear(&opener->raw);
	if (!byte_buffer_reserve(&opener->raw, raw_bytes))
		return error_set(error, ENOMEM, "no memory for a block");
	got = ZSTD_decompressDCtx(opener->zstd, opener->raw.data, raw_bytes, opener->stored.data,
				  opener->stored.used);
	if (ZSTD_isError(got) || got != raw_bytes)
		return set_damage_error(offset, "the block does not decompress", error);
	opener->raw.used = raw_bytes;
	return 0;
}

int block_open(struct block_opener *opener, u64 offset, struct block_view *view,
	       struct stackmap_error *error)
{
	bool compressed = opener->header.coding == TRACE_CODING_ZSTD;
	int err = compressed ? decompress_block(opener, offset, error) : 0;
	const struct byte_buffer *raw = compressed ? &opener->raw : &opener->stored;
	struct byte_cursor cursor = {.at = raw->data, .end = raw->data + raw->used};
	u32 lengths[TRACE_BLOCK_COLUMNS_MAX];

	if (err)
		return err;
	memset(view, 0, sizeof(*view));
	view->header = opener->header;
	for (u32 i = 0; i < view->header.columns; i++)
		lengths[i] = byte_cursor_u32(&cursor);
	for (u32 i = 0; i < view->header.columns; i++) {
		view->column[i].at = byte_cursor_read_bytes(&cursor, lengths[i]);
		view->column[i].end = cursor.at;
	}
	if (cursor.bad || byte_cursor_left(&cursor))
		return set_damage_error(offset, "the block's columns do not add up", error);
	return 0;
}
