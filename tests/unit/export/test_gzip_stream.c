/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* zlib's reader returns the input, which may be cut into any pieces; errors stay with the stream.
 */
#include "export/gzip_stream.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "unit_test.h"

#define BYTES 400000

static unsigned char data[BYTES], back[BYTES + 1];

/* Makes data that cannot be compressed, so that the output is longer than any buffer. */
static void make_data(void)
{
	unsigned int random = 1;

	for (size_t i = 0; i < BYTES; i++) {
		random = random * 1103515245 + 12345;
		data[i] = (unsigned char)(random >> 16);
	}
}

static size_t gunzip(unsigned char *packed, size_t bytes)
{
	z_stream inflater = {.next_in = packed,
			     .avail_in = (uInt)bytes,
			     .next_out = back,
			     .avail_out = sizeof(back)};

	assert_int_equal(inflateInit2(&inflater, 15 + 16), Z_OK);
	assert_int_equal(inflate(&inflater, Z_FINISH), Z_STREAM_END);
	assert_int_equal(inflater.avail_in, 0);
	inflateEnd(&inflater);
	return inflater.total_out;
}

static void check(size_t bytes, size_t step)
{
	struct gzip_stream *stream;
	char *packed = NULL;
	size_t packed_bytes;
	FILE *to = open_memstream(&packed, &packed_bytes);

	assert_int_equal(gzip_stream_create(to, &stream), 0);
	for (size_t at = 0; at < bytes; at += step)
		gzip_stream_write(stream, &data[at], bytes - at < step ? bytes - at : step);
	gzip_stream_close(&stream);
	assert_null(stream);
	assert_int_equal(fclose(to), 0);
	assert_int_equal(gunzip((unsigned char *)packed, packed_bytes), bytes);
	assert_memory_equal(back, data, bytes);
	free(packed);
}

TEST(all_bytes_come_back)
{
	static const size_t steps[] = {7, 65535, 65536, 65537, BYTES};

	make_data();
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		check(BYTES, steps[i]);
	check(65536, 65536);
	check(1, 1);
	check(0, 1);
}

TEST(a_full_disk_is_seen_by_the_owner)
{
	struct gzip_stream *stream;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	assert_int_equal(gzip_stream_create(full, &stream), 0);
	gzip_stream_write(stream, data, BYTES);
	gzip_stream_close(&stream);
	assert_true(ferror(full) || fflush(full));
	fclose(full);
}
