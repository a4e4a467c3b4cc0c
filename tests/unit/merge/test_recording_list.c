/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The recordings of a folder, their order, and the messages about missing ones. Any user may have
 * put files into the folder.
 */
#include "merge/recording_list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/write/writer.h"
#include "unit_test.h"

#define PATH_BYTES 128
#define SOMEBODY 65534

static char folder[] = "/tmp/stackmap-list-XXXXXX";
static struct recording_list list;
static struct stackmap_error error, noted;
static u32 notes;

static const char *path_in_test_folder(const char *name)
{
	static char paths[2][PATH_BYTES];
	static u32 next;
	char *path = paths[next++ % 2];

	snprintf(path, PATH_BYTES, "%s/%s", folder, name);
	return path;
}

/* Writes a recording whose command is its name. */
static void put_recording(const char *name)
{
	const struct trace_info info = {.cpus = 1, .command = name};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(path_in_test_folder(name), &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_close(&writer), 0);
}

static void put_bytes(const char *name, const void *bytes, size_t count)
{
	FILE *file = fopen(path_in_test_folder(name), "we");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, count, file), count);
	assert_int_equal(fclose(file), 0);
}

static void note(void *arg, const struct stackmap_error *why)
{
	assert_ptr_equal(arg, &notes);
	noted = *why;
	notes++;
}

static int add(void)
{
	return recording_list_add_folder(&list, folder, &error);
}

static void check_next(u32 index, const char *command)
{
	assert_true(index < list.count);
	assert_string_equal(trace_reader_info(list.readers[index])->command, command);
}

static int make_folder(void **state)
{
	(void)state;
	strcpy(strrchr(folder, '-'), "-XXXXXX");
	list = (struct recording_list){.note = note, .arg = &notes};
	notes = 0;
	noted = error = (struct stackmap_error){};
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[PATH_BYTES];

	(void)state;
	recording_list_clear(&list);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

TEST(recordings_come_by_name, make_folder, remove_folder)
{
	put_recording("b.data");
	put_recording("a.data");
	put_recording("a.data.old");
	put_recording("no ending");
	assert_int_equal(add(), 0);
	assert_int_equal(list.count, 4);
	check_next(0, "a.data");
	check_next(1, "a.data.old");
	check_next(2, "b.data");
	check_next(3, "no ending");
	assert_int_equal(list.missing, 0);
	assert_string_equal(trace_reader_name(list.readers[0]), path_in_test_folder("a.data"));
}

/* The other files include FIFOs and devices, whose opening waits or has an effect. */
TEST(files_that_are_no_recordings_are_left_out, make_folder, remove_folder)
{
	put_bytes("empty", "", 0);
	put_bytes("short", "stackma", 7);
	put_bytes("text", "stackmaq and more", 17);
	put_recording(".hidden");
	assert_int_equal(mkfifo(path_in_test_folder("fifo"), 0600), 0);
	assert_int_equal(symlink(path_in_test_folder("fifo"), path_in_test_folder("to-fifo")), 0);
	assert_int_equal(symlink("/dev/full", path_in_test_folder("to-device")), 0);
	assert_int_equal(symlink("nowhere", path_in_test_folder("to-nowhere")), 0);
	assert_int_equal(mkdir(path_in_test_folder("sub"), 0700), 0);
	put_recording("sub/deeper");
	assert_int_equal(symlink("sub", path_in_test_folder("to-sub")), 0);
	assert_int_equal(add(), -ENOENT);
	assert_non_null(strstr(error.message, "no recording"));
	assert_int_equal(list.count, 0);
	put_recording("one");
	assert_int_equal(add(), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(notes, 0);
}

/* inotify reports each open of a file; listing a folder must not open its files. */
TEST(only_regular_files_are_opened, make_folder, remove_folder)
{
	char event[sizeof(struct inotify_event) + NAME_MAX + 1];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);

	put_recording("a");
	assert_int_equal(mkfifo(path_in_test_folder("fifo"), 0600), 0);
	if (watch < 0)
		skip(); /* the limit of such files */
	assert_true(inotify_add_watch(watch, path_in_test_folder("fifo"), IN_OPEN) >= 0);
	assert_int_equal(add(), 0);
	assert_int_equal(read(watch, event, sizeof(event)), -1);
	assert_int_equal(errno, EAGAIN);
	close(watch);
}

TEST(one_file_is_one_recording, make_folder, remove_folder)
{
	put_recording("a");
	assert_int_equal(link(path_in_test_folder("a"), path_in_test_folder("b")), 0);
	assert_int_equal(symlink("a", path_in_test_folder("c")), 0);
	assert_int_equal(mkdir(path_in_test_folder("sub"), 0700), 0);
	put_recording("sub/other");
	assert_int_equal(symlink("sub/other", path_in_test_folder("d")), 0);
	assert_int_equal(add(), 0);
	assert_int_equal(list.count, 2);
	check_next(0, "a");
	check_next(1, "sub/other");
}

TEST(a_link_of_somebody_else_is_not_followed, make_folder, remove_folder)
{
	put_recording("a");
	assert_int_equal(mkdir(path_in_test_folder("sub"), 0700), 0);
	put_recording("sub/other");
	assert_int_equal(symlink("sub/other", path_in_test_folder("b")), 0);
	if (lchown(path_in_test_folder("b"), SOMEBODY, SOMEBODY))
		skip(); /* only root gives files away */
	assert_int_equal(add(), 0);
	assert_int_equal(list.count, 1);
	assert_int_equal(list.missing, 1);
	assert_int_equal(notes, 1);
	assert_non_null(strstr(noted.message, "/b: a link of user 65534"));
}

TEST(a_file_that_cannot_be_opened_is_reported, make_folder, remove_folder)
{
	put_recording("a");
	put_bytes("b", "stackmap of no version", 22);
	put_recording("c");
	assert_int_equal(add(), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.missing, 1);
	assert_int_equal(notes, 1);
	assert_non_null(strstr(noted.message, "/b: damaged at byte 0"));
}

TEST(a_damaged_recording_is_listed, make_folder, remove_folder)
{
	put_recording("a");
	put_recording("b");
	assert_int_equal(truncate(path_in_test_folder("b"), 20), 0);
	assert_int_equal(add(), 0);
	assert_int_equal(list.count, 2);
	assert_int_equal(list.missing, 0);
	assert_null(trace_reader_damage(list.readers[0]));
	assert_non_null(trace_reader_damage(list.readers[1]));
}

TEST(files_and_folders_add_up, make_folder, remove_folder)
{
	put_recording("b");
	assert_int_equal(recording_list_add_file(&list, path_in_test_folder("b"), &error), 0);
	assert_int_equal(add(), 0);
	assert_int_equal(list.count, 2); /* a file that is named twice is listed twice */
	assert_true(recording_list_is_folder(folder));
	assert_false(recording_list_is_folder(path_in_test_folder("b")));
	assert_false(recording_list_is_folder(path_in_test_folder("none")));
	assert_int_equal(recording_list_add_file(&list, folder, &error), -EISDIR);
	assert_int_equal(recording_list_add_folder(&list, path_in_test_folder("b"), &error),
			 -ENOTDIR);
	assert_int_equal(recording_list_add_folder(&list, path_in_test_folder("none"), &error),
			 -ENOENT);
	assert_int_equal(list.count, 2);
}

int main(void)
{
	return unit_tests_run();
}
