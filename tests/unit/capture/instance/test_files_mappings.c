/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares the file `mappings` with records that the test writes, and with the text that user space
 * makes. */
#include "files_instance.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/instance/files.h"
#include "capture/load/skeleton.h"
#include "deferral.h"
#include "symbol/file/mapped_file.h"
#include "symbol/symbolizer/symbolizers.h"
#include "unit_test.h"

static void publish_mapping_number(u32 number, const struct mapping_key *key)
{
	int numbers = bpf_map__fd(loaded_programs(&capture->loaded)->maps.mapping_numbers);
	int state = bpf_map__fd(loaded_programs(&capture->loaded)->maps.engine_state);
	struct engine_state engine;
	u32 zero = 0;

	assert_int_equal(bpf_map_update_elem(numbers, key, &number, BPF_NOEXIST), 0);
	assert_int_equal(bpf_map_lookup_elem(state, &zero, &engine), 0);
	engine.mapping_last = number;
	assert_int_equal(bpf_map_update_elem(state, &zero, &engine, BPF_ANY), 0);
}

static struct mapping_record *add_record(u32 number, enum mapping_kind kind)
{
	struct mapping_record *record = loaded_mapping_record(&capture->loaded, number);

	record->key = (struct mapping_key){.kind = kind, .inode = number};
	publish_mapping_number(number, &record->key);
	return record;
}

static struct mapping_record *add_file(u32 number, const char *path, u32 path_bytes, bool is_whole)
{
	struct mapping_record *record = add_record(number, MAPPING_FILE);

	memcpy(record->path, path, path_bytes);
	record->path_bytes = path_bytes;
	record->path_whole = is_whole;
	return record;
}

static FILE *open_mappings_after_kernel_lines(void)
{
	struct stackmap_error error;
	struct kernel_mappings kernel;
	FILE *file = open_file("mappings");
	char line[1024], *wanted;

	assert_int_equal(
		kernel_mappings_read(capture_kernel_files(capture), false, &kernel, &error), 0);
	wanted = kernel.text;
	for (u32 i = 0; i < kernel.count; i++, wanted += strlen(wanted) + 1) {
		assert_non_null(fgets(line, sizeof(line), file));
		line[strcspn(line, "\n")] = 0;
		assert_string_equal(line, wanted);
	}
	kernel_mappings_clear(&kernel);
	return file;
}

static void assert_line(FILE *file, const char *wanted)
{
	char line[2048];

	assert_non_null(fgets(line, sizeof(line), file));
	assert_string_equal(line, wanted);
}

TEST(the_kernel_comes_first, begin, end)
{
	assert_end(open_mappings_after_kernel_lines());
}

TEST(every_kind_has_its_line, begin, end)
{
	static const u8 id[MAPPING_BUILD_ID_MAX] = {0x01, 0xab, 0xff};
	static const char odd[] = "a\n\\b\0c d";
	static const char cut[] = "lib.so\0in";
	static const char beyond_ascii[] = "caf\xc3\xa9\xe2\x80\xae";
	static const char plain[] = "libc.so.6\0lib\0usr";
	struct mapping_record *record;
	FILE *file;

	record = add_file(1, plain, sizeof(plain), true);
	memcpy(record->build_id, id, sizeof(id));
	record->build_id_bytes = sizeof(id);
	add_file(2, odd, sizeof(odd), true);
	add_file(3, cut, sizeof(cut), false);
	add_record(4, MAPPING_VDSO);
	add_record(5, MAPPING_ANON);
	add_file(6, beyond_ascii, sizeof(beyond_ascii), true);
	file = open_mappings_after_kernel_lines();
	assert_line(file, "1 01abff0000000000000000000000000000000000 /usr/lib/libc.so.6\n");
	assert_line(file, "2 - /c d/a\\012\\134b\n");
	assert_line(file, "3 - .../in/lib.so\n");
	assert_line(file, "4 - [vdso]\n");
	assert_line(file, "5 - [anon]\n");
	assert_line(file, "6 - /caf\\303\\251\\342\\200\\256\n");
	assert_end(file);
}

/* Two programs that meet a file in parallel both take a number and a record; one of them is
 * published. */
TEST(a_number_that_was_not_needed_is_not_shown, begin, end)
{
	struct mapping_record *record;
	FILE *file;

	record = add_file(1, "a", 2, true);
	*loaded_mapping_record(&capture->loaded, 2) = *record;
	add_file(3, "b", 2, true);
	file = open_mappings_after_kernel_lines();
	assert_line(file, "1 - /a\n");
	assert_line(file, "3 - /b\n");
	assert_end(file);
}

/* The largest number of mappings, all with the longest paths. */
TEST(all_numbers_are_shown, begin, end)
{
	char name[MAPPING_PATH_BYTES], path[4096], wanted[8192];
	u32 number;
	FILE *file;

	for (number = 1; number < MAPPINGS_MAX; number++) {
		memset(name, 'x', sizeof(name));
		name[200] = name[sizeof(name) - 1] = 0;
		snprintf(name, 10, "%08u", number);
		name[8] = '.';
		add_file(number, name, sizeof(name), true);
	}
	file = open_mappings_after_kernel_lines();
	for (number = 1; number < MAPPINGS_MAX; number++) {
		mapped_file_path(loaded_mapping_record(&capture->loaded, number), path,
				 sizeof(path));
		snprintf(wanted, sizeof(wanted), "%u - %s\n", number, path);
		assert_line(file, wanted);
	}
	assert_end(file);
}

#define PROGRAM "/bin/true"
#define COPY "deleted_before_the_read"

static void copy_program(void)
{
	assert_int_equal(system("cp " PROGRAM " " COPY), 0);
}

/* Runs a copy of a program, whose last system call comes from the program itself. */
static void run_copy(void)
{
	assert_int_equal(system("exec ./" COPY), 0);
}

static void hex_id(const char *path, char *text)
{
	u8 id[TRACE_BUILD_ID_MAX];
	int fd = open(path, O_RDONLY | O_CLOEXEC), bytes;

	assert_true(fd >= 0);
	bytes = mapped_file_build_id(fd, id);
	assert_true(bytes > 0);
	close(fd);
	for (int i = 0; i < bytes; i++)
		sprintf(text + 2 * i, "%02x", id[i]);
}

/* The process and the file are gone. */
TEST(a_deleted_file_has_its_build_id, begin_unwinding, end)
{
	char line[2048], wanted[128], found[128] = "";
	struct stackmap_error error;
	u32 number;
	FILE *file;

	assert_int_equal(capture_attach(capture, &error), 0);
	copy_program();
	run_copy();
	hex_id(COPY, wanted);
	unlink(COPY);
	file = open_mappings_after_kernel_lines();
	while (fgets(line, sizeof(line), file))
		if (strstr(line, "/" COPY "\n"))
			assert_int_equal(sscanf(line, "%u %127s", &number, found), 2);
	fclose(file);
	assert_string_equal(found, wanted);
}

int main(void)
{
	return unit_tests_run();
}
