/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stripped programs of several linkers and kinds: the functions of their unwind tables are exactly
 * those that readelf shows; and the same programs with flipped bytes.
 */
#include <fcntl.h>
#include <libelf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sample_program.h"
#include "symbol/elf/fde_ranges.h"
#include "unit_test.h"

static const struct sample samples[] = {
	{"pie", "gcc -O1 -fPIE -pie -s $IN -o $OUT", sample_c, ".c"},
	{"no_pie", "gcc -O1 -fno-pie -no-pie -s $IN -o $OUT", sample_c, ".c"},
	{"one_segment", "gcc -O1 -no-pie -Wl,-z,noseparate-code -s $IN -o $OUT", sample_c, ".c"},
	{"static", "gcc -O1 -static -s $IN -o $OUT", sample_c, ".c"},
	{"personality", "g++ -O1 -s $IN -o $OUT", sample_cxx, ".cc"},
	{"of_lld",
	 "ld.lld --version >/dev/null 2>&1 || exit 0; gcc -O1 -fuse-ld=lld -s $IN -o $OUT",
	 sample_c, ".c"},
};

struct read {
	struct elf_segments segments;
	struct symbol_table *table;
};

static void read_open(int fd, struct read *read)
{
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);

	*read = (struct read){};
	assert_int_equal(symbol_table_create(&read->table), 0);
	if (elf && elf_kind(elf) == ELF_K_ELF) {
		elf_segments_read(elf, &read->segments);
		fde_ranges_add(elf, &read->segments, read->table);
	}
	elf_end(elf);
}

static void read_program(const char *path, struct read *read)
{
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	read_open(fd, read);
	close(fd);
}

static bool has_table_this_range(const struct read *read, u64 start, u64 end)
{
	const struct elf_segment *segment = elf_segment_of_address(&read->segments, start);
	struct symbol found;

	return segment &&
	       symbol_table_find(read->table, start - segment->address + segment->offset, &found) &&
	       found.start == start - segment->address + segment->offset &&
	       found.size == end - start && !found.name[0];
}

static FILE *readelf(const char *path)
{
	char command[512];
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "readelf -wf '%s' | sed -n 's/.* FDE .*pc=\\(.*\\)\\.\\.\\(.*\\)/\\1 \\2/p' | "
		 "sort -u",
		 path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	return pipe;
}

static u32 count_of(const struct symbol_table *table)
{
	struct symbol symbol;
	u32 count = 0;

	while (symbol_table_at_index(table, count, &symbol))
		count++;
	return count;
}

static void check_sample(const struct sample *sample)
{
	char path[SAMPLE_PATH_BYTES];
	unsigned long start, end;
	struct read read;
	u32 expected = 0;
	FILE *pipe;

	sample_build(sample, path);
	if (access(path, R_OK))
		return;
	read_program(path, &read);
	pipe = readelf(path);
	while (fscanf(pipe, "%lx %lx", &start, &end) == 2)
		if (end > start) {
			assert_true(has_table_this_range(&read, start, end));
			expected++;
		}
	pclose(pipe);
	assert_in_range(expected, 5, UINT32_MAX);
	assert_int_equal(count_of(read.table), expected);
	symbol_table_free(&read.table);
}

TEST(functions_are_those_of_readelf)
{
	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
		check_sample(&samples[i]);
}

/* With any bytes, reading ends, and all functions lie in the code. */
TEST(damage_has_an_end)
{
	char path[SAMPLE_PATH_BYTES];
	struct stat status;
	int fd;

	sample_build(&samples[0], path);
	fd = open(path, O_RDWR);
	assert_int_equal(fstat(fd, &status), 0);
	srand(1);
	for (int i = 0; i < 2000; i++) {
		u8 byte = rand();
		struct symbol symbol;
		struct read read;

		assert_int_equal(pwrite(fd, &byte, 1, rand() % status.st_size), 1);
		read_open(fd, &read);
		for (u32 at = 0; symbol_table_at_index(read.table, at, &symbol); at++)
			assert_non_null(elf_segment_at_offset(&read.segments, symbol.start));
		symbol_table_free(&read.table);
	}
	close(fd);
}

TEST(a_file_without_a_table_has_none)
{
	const struct sample bare = {"bare", "gcc -O1 -s $IN -o $OUT && objcopy -R .eh_frame $OUT",
				    sample_c, ".c"};
	char path[SAMPLE_PATH_BYTES];
	struct read read;

	sample_build(&bare, path);
	read_program(path, &read);
	assert_int_equal(count_of(read.table), 0);
	symbol_table_free(&read.table);
}

TEST_GROUP(NULL, sample_folder_teardown)

int main(void)
{
	if (elf_version(EV_CURRENT) == EV_NONE || !sample_folder_create())
		return 77;
	return unit_tests_run();
}
