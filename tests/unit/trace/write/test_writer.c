/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The writer's effects on the file system: a failing writer overwrites no file and leaves none
 * behind, and a disk that fills up at any byte leaves a file of whole blocks and a true count of
 * the lost events.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data_folder.h"
#include "recording.h"
#include "trace/read/reader.h"
#include "trace_file.h"
#include "unit_test.h"

static const struct recording_shape small = {
	.seed = 11,
	.cpus = 2,
	.sources = 4,
	.stacks = 12,
	.full_stacks = 3,
	.tasks = 6,
	.symbols = 9,
	.events = 200,
	.flush_every = 60,
	.placeholders = 10,
};

static int make_directory_for_full_disk(void **state)
{
	return signal(SIGXFSZ, SIG_IGN) == SIG_ERR ? -1 : make_directory(state);
}

static u32 files_in_directory(void)
{
	DIR *listing = opendir(directory);
	u32 files = 0;

	assert_non_null(listing);
	for (struct dirent *entry; (entry = readdir(listing));)
		files += entry->d_name[0] != '.';
	closedir(listing);
	return files;
}

static void put_text(const char *name, const char *text)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void check_text(const char *name, const char *text)
{
	char got[64] = "";
	int fd = open(name, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(read(fd, got, sizeof(got) - 1) >= 0);
	assert_string_equal(got, text);
	close(fd);
}

static u64 size_of(const char *name)
{
	struct stat status;

	assert_int_equal(stat(name, &status), 0);
	return (u64)status.st_size;
}

static int create_and_close(const char *name, struct stackmap_error *error)
{
	static const struct trace_info info = {.cpus = 1};
	struct trace_writer *writer = NULL;
	int err = trace_writer_create(name, &info, &writer, error);

	if (err) {
		assert_null(writer);
		return err;
	}
	err = trace_writer_publish(writer, error);
	if (err) {
		trace_writer_discard(&writer);
		return err;
	}
	return trace_writer_close(&writer);
}

/* Existing files are unchanged until the recording is published. */
TEST(discarded_output_leaves_nothing, NULL, remove_files)
{
	static const struct trace_info info = {.cpus = 1};
	struct trace_writer *writer;

	put_text(path, "first");
	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	trace_writer_discard(&writer);
	assert_null(writer);
	assert_int_equal(files_in_directory(), 1);
	check_text(path, "first");
}

TEST(file_is_private_and_whole, NULL, remove_files)
{
	struct stat status;

	assert_int_equal(create_and_close(path, NULL), 0);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	assert_int_equal(files_in_directory(), 1);
}

TEST(existing_output_is_kept_as_old, NULL, remove_files)
{
	put_text(path, "first");
	put_text(old_path, "zeroth");
	assert_int_equal(create_and_close(path, NULL), 0);
	check_text(old_path, "first");
	assert_int_equal(files_in_directory(), 2);
}

TEST(link_stays_and_its_target_is_replaced, NULL, remove_files)
{
	char target[80], target_old[96];
	struct stat status;

	snprintf(target, sizeof(target), "%s/target", directory);
	snprintf(target_old, sizeof(target_old), "%s.old", target);
	put_text(target, "first");
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(create_and_close(path, NULL), 0);
	assert_int_equal(lstat(path, &status), 0);
	assert_true(S_ISLNK(status.st_mode));
	check_text(target_old, "first");
	assert_int_equal(unlink(target), 0);
	assert_int_equal(unlink(target_old), 0);
}

TEST(directory_is_refused, NULL, remove_files)
{
	struct stackmap_error error;

	assert_int_equal(create_and_close(directory, &error), -EISDIR);
	assert_non_null(strstr(error.message, directory));
	assert_int_equal(files_in_directory(), 0);
}

TEST(missing_directory_is_refused, NULL, remove_files)
{
	struct stackmap_error error;

	assert_int_equal(create_and_close("/nonexistent/data", &error), -ENOENT);
	assert_non_null(strstr(error.message, "/nonexistent/data"));
}

/* `path`.old cannot be replaced, so all files must stay unchanged. */
TEST(output_that_cannot_be_kept_is_not_touched, NULL, remove_files)
{
	struct stackmap_error error;

	put_text(path, "first");
	assert_int_equal(mkdir(old_path, 0700), 0);
	assert_int_equal(create_and_close(path, &error), -EISDIR);
	assert_non_null(strstr(error.message, old_path));
	check_text(path, "first");
	assert_int_equal(files_in_directory(), 2);
	assert_int_equal(rmdir(old_path), 0);
}

TEST(devices_are_written_as_they_are, NULL, remove_files)
{
	struct stackmap_error error;
	struct stat status;

	assert_int_equal(create_and_close("/dev/null", NULL), 0);
	assert_int_equal(create_and_close("/dev/full", &error), -ENOSPC);
	assert_non_null(strstr(error.message, "/dev/full"));
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

TEST(standard_output_can_be_a_file, NULL, remove_files)
{
	int held = dup(STDOUT_FILENO);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	struct trace_reader *reader;
	int err;

	assert_true(held >= 0 && fd >= 0);
	fflush(stdout);
	assert_int_equal(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	err = create_and_close("-", NULL);
	assert_int_equal(dup2(held, STDOUT_FILENO), STDOUT_FILENO);
	close(held);
	close(fd);
	assert_int_equal(err, 0);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_null(trace_reader_damage(reader));
	trace_reader_close(&reader);
}

static void limit_file_size(u64 bytes)
{
	struct rlimit limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static int count_event(void *arg, const struct trace_event *event)
{
	(void)event;
	++*(u64 *)arg;
	return 0;
}

static void check_full_disk(const struct recording *recording, u64 limit)
{
	struct trace_reader *reader;
	u64 recorded = 0, lost = 0, read = 0;
	int err;

	limit_file_size(limit);
	err = recording_write(recording, path, &recorded, &lost);
	limit_file_size(UINT64_MAX);
	assert_int_equal(err, -EFBIG);
	if (!files_in_directory())
		return;
	assert_int_equal(recorded + lost, recording->shape.events);
	assert_int_equal(trace_reader_open(path, &reader, NULL), 0);
	assert_non_null(trace_reader_damage(reader));
	assert_int_equal(trace_reader_damage(reader)->offset, size_of(path));
	assert_int_equal(trace_reader_events(reader, count_event, &read, NULL), 0);
	assert_int_equal(read, recorded);
	trace_reader_close(&reader);
	assert_int_equal(unlink(path), 0);
}

/* With a sanitizer each writer is slow, as its megabytes are poisoned again: only some sizes are
 * tried. */
#ifdef __SANITIZE_ADDRESS__
#define LIMIT_STEP 7
#else
#define LIMIT_STEP 1
#endif

TEST(disk_full_at_every_byte, NULL, remove_files)
{
	struct recording *recording = recording_create(&small);
	u64 bytes;

	assert_int_equal(recording_write(recording, path, NULL, NULL), 0);
	bytes = size_of(path);
	assert_int_equal(unlink(path), 0);
	for (u64 limit = 0; limit < bytes; limit += LIMIT_STEP)
		check_full_disk(recording, limit);
	recording_free(&recording);
}

/* The first error stays, and later events are counted as lost. */
TEST(errors_are_kept, NULL, remove_files)
{
	static const struct trace_info info = {.cpus = 1};
	struct trace_source source = {.name = "cpu-clock"};
	struct trace_event event = {.kernel = TRACE_NO_STACK, .user = TRACE_NO_STACK};
	struct trace_writer *writer;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_publish(writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	assert_int_equal(trace_writer_event(writer, &event), 0);
	assert_int_equal(trace_writer_lost(writer), 0);
	limit_file_size(trace_writer_bytes(writer));
	assert_int_equal(trace_writer_flush(writer), -EFBIG);
	limit_file_size(UINT64_MAX);
	assert_int_equal(trace_writer_event(writer, &event), -EFBIG);
	assert_int_equal(trace_writer_source(writer, &source), -EFBIG);
	assert_int_equal(trace_writer_recorded(writer), 0);
	assert_int_equal(trace_writer_lost(writer), 2);
	assert_int_equal(trace_writer_close(&writer), -EFBIG);
	assert_null(writer);
}

TEST(invalid_calls_are_refused, NULL, remove_files)
{
	static const struct trace_info info = {.cpus = 1};
	static const u64 frames[] = {FRAME_NARROW_TOP | 1, 0};
	struct trace_stack stack = {.frames = frames, .depth = 0};
	struct trace_event event = {.kernel = TRACE_NO_STACK, .user = TRACE_NO_STACK};
	struct trace_source source = {.name = "cpu-clock"};
	struct trace_symbol symbol = {.name = "empty"};
	struct trace_writer *writer;
	u32 index;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_publish(writer, NULL), 0);
	assert_int_equal(trace_writer_event(writer, &event), -EINVAL);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	event.kernel = 0;
	assert_int_equal(trace_writer_event(writer, &event), -EINVAL);
	assert_int_equal(trace_writer_stack(writer, &stack, &index), -EINVAL);
	stack.depth = 2;
	assert_int_equal(trace_writer_stack(writer, &stack, &index), -EINVAL);
	assert_int_equal(trace_writer_symbol(writer, &symbol), -EINVAL);
	assert_int_equal(trace_writer_close(&writer), 0);
}

TEST(full_stacks_are_shared_and_named, NULL, remove_files)
{
	static const struct trace_info info = {.cpus = 1};
	static const u64 frames[] = {FRAME_NARROW_TOP | 1, FRAME_NARROW_TOP | 2};
	struct trace_stack stack = {.frames = frames, .depth = 2};
	struct trace_writer *writer;
	u32 index[5];

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_publish(writer, NULL), 0);
	assert_int_equal(trace_writer_stack(writer, &stack, &index[0]), 0);
	assert_int_equal(trace_writer_stack(writer, &stack, &index[1]), 0);
	stack.flags = STACK_TRUNCATED;
	assert_int_equal(trace_writer_stack(writer, &stack, &index[2]), 0);
	stack.depth = 1;
	assert_int_equal(trace_writer_stack(writer, &stack, &index[3]), 0);
	stack.flags = STOP_BUDGET << STACK_STOP_SHIFT;
	assert_int_equal(trace_writer_stack(writer, &stack, &index[4]), 0);
	assert_int_equal(index[0], index[1]);
	assert_int_not_equal(index[1], index[2]);
	assert_int_not_equal(index[2], index[3]);
	assert_int_not_equal(index[3], index[4]);
	assert_int_equal(trace_writer_close(&writer), 0);
}

struct frame_count {
	u32 exact, returns;
	bool leaf_returns;
};

#define LEAF (FRAME_NARROW_TOP | 77)

static int count_frame(void *arg, u64 frame, bool return_address)
{
	struct frame_count *count = arg;

	count->exact += !return_address;
	count->returns += return_address;
	count->leaf_returns |= return_address && frame == LEAF;
	return 0;
}

static int stop_early(void *arg, u64 frame, bool return_address)
{
	(void)frame;
	(void)return_address;
	++*(u32 *)arg;
	return -EINTR;
}

TEST(frames_are_given_once_each_way, NULL, remove_files)
{
	static const struct trace_info info = {.cpus = 1};
	static const u64 frames[] = {FRAME_NARROW_TOP | 1, FRAME_NARROW_TOP | 2,
				     FRAME_NARROW_TOP | 2};
	struct trace_stack stack = {.frames = frames, .depth = 3};
	struct trace_source source = {.name = "cpu-clock", .extras = TRACE_EXTRA_LEAF};
	struct trace_event event = {.user = TRACE_NO_STACK, .leaf = LEAF};
	struct frame_count count = {0};
	struct trace_writer *writer;
	u32 calls = 0;

	assert_int_equal(trace_writer_create(path, &info, &writer, NULL), 0);
	assert_int_equal(trace_writer_publish(writer, NULL), 0);
	assert_int_equal(trace_writer_source(writer, &source), 0);
	assert_int_equal(trace_writer_stack(writer, &stack, &event.kernel), 0);
	for (u32 i = 0; i < 3; i++)
		assert_int_equal(trace_writer_event(writer, &event), 0);
	assert_int_equal(trace_writer_each_frame(writer, count_frame, &count), 0);
	assert_int_equal(count.exact, 2);
	assert_int_equal(count.returns, 2);
	assert_false(count.leaf_returns);
	assert_int_equal(trace_writer_each_frame(writer, stop_early, &calls), -EINTR);
	assert_int_equal(calls, 1);
	assert_int_equal(trace_writer_close(&writer), 0);
}

TEST_GROUP(make_directory_for_full_disk, remove_directory)
