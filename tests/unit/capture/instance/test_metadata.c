/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Metadata is read back as written; other maps are refused. */
#include "capture/instance/metadata.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "capture/instance/metadata.h"
#include "kept_records.h"
#include "unit_test.h"

#define COMMAND "stackmap start slab -F 99 --flight 8M"

static struct source sources[] = {
	{.type = SOURCE_SAMPLE, .name = "cpu-clock", .frequency = 99},
	{.type = SOURCE_PERF, .name = "page-faults", .period = 1},
	{.type = SOURCE_USER,
	 .name = "u:/usr/lib/libc.so.6:malloc",
	 .target = "/usr/lib/libc.so.6"},
	{.type = SOURCE_WAKER, .name = "offcpu-waker", .unit = "ns"},
	{.type = SOURCE_TRACEPOINT, .name = "kmem:kmalloc", .unit = "bytes"},
};
static const struct source_list list = {.sources = sources, .count = 5};
static struct stackmap_error error;

static int write_map(void)
{
	int result = metadata_write_to_new_map(&list, true, COMMAND, &error);

	if (result < 0) {
		printf("%s\n", error.message);
		assert_int_equal(result, -EPERM);
		skip();
	}
	return result;
}

static int make_map(enum bpf_map_type type, const void *value, size_t bytes)
{
	int fd = bpf_map_create(type, "other", 4, bytes, 1, NULL);
	u32 key = 0;

	if (fd == -EPERM) {
		printf("no BPF maps for this user\n");
		skip();
	}
	assert_true(fd >= 0);
	assert_int_equal(bpf_map_update_elem(fd, &key, value, BPF_ANY), 0);
	return fd;
}

static int read_bytes(const void *value, size_t bytes)
{
	struct metadata *metadata = NULL;
	int fd = make_map(BPF_MAP_TYPE_ARRAY, value, bytes);
	int result = metadata_read(fd, &metadata, &error);

	close(fd);
	assert_ptr_equal(metadata, NULL);
	return result;
}

TEST(metadata_is_read_back_as_written)
{
	int fd = write_map();
	struct metadata *metadata = NULL;
	u32 kind;

	assert_int_equal(metadata_read(fd, &metadata, &error), 0);
	assert_string_equal(metadata->command, COMMAND);
	assert_true(metadata->start_realtime > 0 && metadata->start_monotonic > 0);
	assert_int_equal(metadata->sources.count, list.count);
	for (kind = 0; kind < list.count; kind++) {
		assert_int_equal(metadata->sources.sources[kind].type, sources[kind].type);
		assert_string_equal(metadata->sources.sources[kind].name, sources[kind].name);
		if (sources[kind].unit)
			assert_string_equal(metadata->sources.sources[kind].unit,
					    sources[kind].unit);
		else
			assert_null(metadata->sources.sources[kind].unit);
		assert_int_equal(metadata->sources.sources[kind].frequency,
				 sources[kind].frequency);
		assert_int_equal(metadata->sources.sources[kind].period, sources[kind].period);
	}
	metadata_free(&metadata);
	assert_null(metadata);
	close(fd);
}

TEST(metadata_cannot_be_changed)
{
	static const char other[4096];
	int fd = write_map();
	u32 key = 0;

	assert_int_equal(bpf_map_update_elem(fd, &key, other, BPF_ANY), -EPERM);
	close(fd);
}

TEST(another_version_is_named)
{
	const struct metadata_header header = {.version = METADATA_VERSION + 6};
	char number[16];

	assert_int_equal(read_bytes(&header, sizeof(header)), -EPROTO);
	snprintf(number, sizeof(number), " %u,", METADATA_VERSION + 6);
	assert_non_null(strstr(error.message, number));
}

/* A map's value with one source, whose text may be cut and whose counts may be wrong. */
struct value {
	struct metadata_header header;
	struct metadata_source source;
	char text[16];
};

static struct value make_valid_metadata_value(void)
{
	return (struct value){
		.header = {.version = METADATA_VERSION, .sources = 1, .text_bytes = 16},
		.source = {.type = SOURCE_PERF, .period = 1},
		.text = "command\0"
			"a-name",
	};
}

TEST(damage_is_refused)
{
	struct value value = make_valid_metadata_value();

	value.header.sources = 2;
	assert_int_equal(read_bytes(&value, sizeof(value)), -EINVAL);
	value = make_valid_metadata_value();
	value.header.sources = 0xffffffff;
	assert_int_equal(read_bytes(&value, sizeof(value)), -EINVAL);
	value = make_valid_metadata_value();
	value.header.text_bytes = 0;
	assert_int_equal(read_bytes(&value, sizeof(value)), -EINVAL);
	value = make_valid_metadata_value();
	value.source.type = SOURCE_WAKER + 1;
	assert_int_equal(read_bytes(&value, sizeof(value)), -EINVAL);
	value = make_valid_metadata_value();
	value.text[15] = 'x';
	assert_int_equal(read_bytes(&value, sizeof(value)), -EINVAL);
	value = make_valid_metadata_value();
	memset(value.text, 'x', 15);
	assert_int_equal(read_bytes(&value, sizeof(value)), -EINVAL);
	assert_int_equal(read_bytes(&value, 4), -EINVAL);
}

TEST(another_map_is_refused)
{
	struct value value = make_valid_metadata_value();
	struct metadata *metadata = NULL;
	int fd = make_map(BPF_MAP_TYPE_HASH, &value, sizeof(value));

	assert_int_equal(metadata_read(fd, &metadata, &error), -EINVAL);
	close(fd);
	assert_true(metadata_read(-1, &metadata, &error) < 0);
	assert_null(metadata);
}
