/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Paths of cgroup ids, in folders that stand for a cgroup2 file system. */
#include "capture/drain/cgroup_log.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../trace/memory_folder.h"
#include "trace/read/names.h"
#include "trace/write/memory_recording.h"
#include "unit_test.h"

static char mount[MEMORY_FOLDER_BYTES];
static struct cgroup_path paths[CGROUP_PATHS];
static struct cgroup_log *cgroups;
static struct memory_recording recording;

static char *directory_of(const char *path)
{
	static char directory[MEMORY_FOLDER_BYTES + 64];

	snprintf(directory, sizeof(directory), "%s%s", mount, path);
	return directory;
}

static u64 make_cgroup_directory(const char *path)
{
	struct stat status;

	assert_int_equal(mkdir(directory_of(path), 0700), 0);
	assert_int_equal(stat(directory_of(path), &status), 0);
	return status.st_ino;
}

static void remove_directory(const char *path)
{
	assert_int_equal(rmdir(directory_of(path)), 0);
}

static void begin_file(void)
{
	static const struct trace_info info = {.cpus = 1};

	assert_int_equal(memory_recording_begin(&recording, "cgroups", &info, NULL), 0);
	cgroup_log_begin_file(cgroups);
}

static int begin(void **state)
{
	(void)state;
	memset(paths, 0, sizeof(paths));
	if (memory_folder_create(mount) || cgroup_log_create(mount, &cgroups))
		return -1;
	cgroup_log_use_paths(cgroups, paths);
	begin_file();
	return 0;
}

static int end(void **state)
{
	(void)state;
	memory_recording_discard(&recording);
	cgroup_log_free(&cgroups);
	return rmdir(mount);
}

static u32 cgroup_number_by_id(u64 id)
{
	u32 number;

	assert_int_equal(cgroup_log_write_and_number_by_id(cgroups, recording.writer, id, &number),
			 0);
	return number;
}

static u32 cgroup_number_by_path(const char *path)
{
	u32 number;

	assert_int_equal(
		cgroup_log_write_and_number_by_path(cgroups, recording.writer, path, &number), 0);
	return number;
}

/* Ends the file, and asserts that it has these cgroups in this order. */
static void assert_cgroups_of_file(const char *const *names, u32 count)
{
	const struct trace_cgroup *written;
	char room[TRACE_CGROUP_ROOM];
	struct trace_reader *reader;

	assert_int_equal(memory_recording_end(&recording, &reader, NULL), 0);
	assert_int_equal(trace_reader_cgroups(reader, &written), count);
	for (u32 i = 0; i < count; i++)
		assert_string_equal(trace_cgroup_name(reader, i + 1, room), names[i]);
	trace_reader_close(&reader);
}

TEST(a_cgroup_has_one_number_by_path_and_by_id, begin, end)
{
	u64 outer = make_cgroup_directory("/outer"), inner = make_cgroup_directory("/outer/inner"),
	    root;
	struct stat status;

	assert_int_equal(stat(mount, &status), 0);
	root = status.st_ino;
	assert_int_equal(cgroup_number_by_path("/outer"), 1);
	assert_int_equal(cgroup_number_by_id(inner), 2);
	assert_int_equal(cgroup_number_by_id(outer), 1);
	assert_int_equal(cgroup_number_by_path("/outer/inner"), 2);
	assert_int_equal(cgroup_number_by_id(root), 3);
	assert_int_equal(cgroup_number_by_path("/"), 3);
	assert_int_equal(cgroup_number_by_id(0), 0);
	remove_directory("/outer/inner");
	remove_directory("/outer");
	assert_cgroups_of_file((const char *const[]){"/outer", "/outer/inner", "/"}, 3);
}

TEST(a_removed_cgroup_has_the_path_that_programs_kept, begin, end)
{
	paths[7] = (struct cgroup_path){.id = 1ULL << 40, .path = "/gone"};
	assert_int_equal(cgroup_number_by_id(1ULL << 40), 1);
	assert_int_equal(cgroup_number_by_id((1ULL << 40) + 1), 2);
	assert_int_equal(cgroup_number_by_id(1ULL << 40), 1);
	assert_int_equal(cgroup_number_by_path("/removed with its last task"), 3);
	assert_cgroups_of_file((const char *const[]){"/gone", "[cgroup 1099511627777]",
						     "/removed with its last task"},
			       3);
}

/* A round reads the directories once for any number of missing ids. */
TEST(a_cgroup_that_programs_did_not_keep_is_found_in_the_next_round, begin, end)
{
	u64 later;

	assert_int_equal(cgroup_number_by_id(1ULL << 40), 1);
	later = make_cgroup_directory("/later");
	cgroup_log_begin_round(cgroups);
	assert_int_equal(cgroup_number_by_id(later), 2);
	remove_directory("/later");
	assert_cgroups_of_file((const char *const[]){"[cgroup 1099511627776]", "/later"}, 2);
}

TEST(a_path_that_is_made_again_is_another_cgroup, begin, end)
{
	u64 first = make_cgroup_directory("/unit"), second;

	assert_int_equal(cgroup_number_by_id(first), 1);
	remove_directory("/unit");
	second = first + (1ULL << 32);
	paths[0] = (struct cgroup_path){.id = second, .path = "/unit"};
	assert_int_equal(cgroup_number_by_id(second), 2);
	assert_int_equal(cgroup_number_by_path("/unit"), 1);
	assert_int_equal(cgroup_number_by_id(first), 1);
	assert_cgroups_of_file((const char *const[]){"/unit", "/unit"}, 2);
}

TEST(every_file_has_its_own_numbers, begin, end)
{
	u64 id = make_cgroup_directory("/unit");

	assert_int_equal(cgroup_number_by_path("/"), 1);
	assert_int_equal(cgroup_number_by_id(id), 2);
	assert_cgroups_of_file((const char *const[]){"/", "/unit"}, 2);
	begin_file();
	assert_int_equal(cgroup_number_by_id(id), 1);
	remove_directory("/unit");
	assert_cgroups_of_file((const char *const[]){"/unit"}, 1);
}

TEST(a_thousand_cgroups_keep_their_numbers, begin, end)
{
	char path[32];

	for (u32 i = 0; i < 1000; i++) {
		u64 id;

		snprintf(path, sizeof(path), "/unit-%u", i);
		id = make_cgroup_directory(path);
		cgroup_log_begin_round(cgroups);
		assert_int_equal(i % 2 ? cgroup_number_by_path(path) : cgroup_number_by_id(id),
				 i + 1);
	}
	for (u32 i = 0; i < 1000; i++) {
		snprintf(path, sizeof(path), "/unit-%u", i);
		assert_int_equal(cgroup_number_by_path(path), i + 1);
		remove_directory(path);
	}
}

TEST(without_a_cgroup_file_system_there_are_no_numbers, begin, end)
{
	struct cgroup_log *none;
	u32 number = 1;

	assert_int_equal(cgroup_log_create(NULL, &none), 0);
	assert_int_equal(cgroup_log_write_and_number_by_id(none, recording.writer, 1, &number), 0);
	assert_int_equal(number, 0);
	number = 1;
	assert_int_equal(cgroup_log_write_and_number_by_path(none, recording.writer, "/", &number),
			 0);
	assert_int_equal(number, 0);
	cgroup_log_free(&none);
	assert_null(none);
}
