/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads of files of other users: by this process, by a worker process, or given up when they take
 * too long. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../symbol/sample_record.h"
#include "clock.h"
#include "unit_test.h"
#include "user_unwind/readers.h"

#define FILE_BYTES 10000
#define FUSE 0x65735546
#define OTHER_USER 12345
#define HANG_MS 3000

static struct readers *readers;
static struct mapping_record record;
static char path[64];
static const char text[] = "what stands in memory";

static struct reader_file reader_file_of_own_program(void)
{
	return (struct reader_file){.number = 1, .tgid = getpid(), .record = &record};
}

static int set_up(void **state)
{
	u8 bytes[FILE_BYTES];
	int fd;

	(void)state;
	for (u32 i = 0; i < FILE_BYTES; i++)
		bytes[i] = i % 251;
	strcpy(path, "/tmp/readers-XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		return -1;
	close(fd);
	sample_record_file(&record, path);
	return readers_create(&readers);
}

static int tear_down(void **state)
{
	(void)state;
	readers_free(&readers);
	assert_null(readers);
	unlink(path);
	return 0;
}

static u32 pid_of_reader_worker(void)
{
	u32 pids[READERS_MAX], count = readers_worker_pids(readers, pids);

	assert_in_range(count, 0, 1);
	return count ? pids[0] : 0;
}

/* Tries again, as readers take a slow machine for a slow file system. */
static int open_file_with_retries(const struct reader_file *file)
{
	int result = readers_open(readers, file);

	for (int i = 0; i < 50 && (result == -ETIMEDOUT || result == -EBUSY); i++) {
		usleep(100000);
		result = readers_open(readers, file);
	}
	return result;
}

TEST(own_files_are_read_directly, set_up, tear_down)
{
	const struct reader_file file = reader_file_of_own_program();
	char read[sizeof(text)];
	int fd = readers_open(readers, &file);

	assert_in_range(fd, 3, READERS_HELD - 1);
	close(fd);
	assert_true(readers_read_memory(readers, getpid(), getpid(), (uintptr_t)text, read,
					sizeof(read)));
	assert_string_equal(read, text);
	assert_false(readers_read_memory(readers, getpid(), getpid(), 8, read, sizeof(read)));
	assert_int_equal(pid_of_reader_worker(), 0);
}

TEST(files_of_other_file_systems_are_held_by_a_worker, set_up, tear_down)
{
	const struct reader_file file = reader_file_of_own_program();
	u8 page[READERS_PAGE];

	record.file_system = FUSE;
	assert_int_equal(open_file_with_retries(&file), READERS_HELD);
	assert_int_not_equal(pid_of_reader_worker(), 0);
	for (u32 index = 0; index < 3; index++) {
		int bytes = readers_read_page(readers, &file, index, page);

		assert_int_equal(bytes, index < 2 ? READERS_PAGE : FILE_BYTES - 2 * READERS_PAGE);
		for (int i = 0; i < bytes; i++)
			assert_int_equal(page[i], (index * READERS_PAGE + i) % 251);
	}
	assert_int_equal(readers_read_page(readers, &file, 3, page), 0);
	record.key.inode++;
	assert_int_equal(open_file_with_retries(&file), READERS_HELD); /* found by its number */
	readers_free(&readers);
	assert_int_equal(readers_create(&readers), 0);
	assert_int_equal(open_file_with_retries(&file), -ENOENT);
}

static pid_t start_as_another_user(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (geteuid())
		skip();
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (setresuid(OTHER_USER, OTHER_USER, OTHER_USER) || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

TEST(a_worker_reads_another_users_process, set_up, tear_down)
{
	pid_t pid = start_as_another_user();
	struct reader_file file = reader_file_of_own_program();
	char read[sizeof(text)];
	bool is_read = false;
	int fd;

	file.tgid = pid;
	fd = open_file_with_retries(&file);
	assert_in_range(fd, 3, READERS_HELD - 1);
	close(fd);
	for (int i = 0; i < 50 && !is_read; i++) {
		is_read =
			readers_read_memory(readers, pid, pid, (uintptr_t)text, read, sizeof(read));
		usleep(is_read ? 0 : 100000);
	}
	assert_true(is_read);
	assert_string_equal(read, text);
	assert_int_not_equal(pid_of_reader_worker(), 0);
	assert_false(readers_read_memory(readers, pid, pid, 8, read, sizeof(read)));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Requests without a pause to a file that never answers cost a tenth of the time and few processes.
 */
TEST(a_reader_that_never_answers_is_not_waited_for, set_up, tear_down)
{
	const struct reader_file file = reader_file_of_own_program();
	u64 end = clock_ms() + HANG_MS, waited = 0, longest = 0;
	u32 stopped = 0, last = 0, busy = 0;
	u8 page[READERS_PAGE];

	record.file_system = FUSE;
	assert_int_equal(open_file_with_retries(&file), READERS_HELD);
	while (clock_ms() < end) {
		u64 began = clock_ms(), took;
		int result;

		if (pid_of_reader_worker() && pid_of_reader_worker() != last) {
			last = pid_of_reader_worker();
			kill(last, SIGSTOP);
			stopped++;
		}
		result = readers_read_page(readers, &file, 0, page);
		took = clock_ms() - began;
		waited += took;
		longest = took > longest ? took : longest;
		busy += result == -EBUSY;
		usleep(1000);
	}
	assert_in_range(stopped, 2, 5);
	assert_in_range(longest, 90, 1000);
	assert_in_range(busy, 100, HANG_MS);
	assert_in_range(waited, 90, HANG_MS / 2);
}
