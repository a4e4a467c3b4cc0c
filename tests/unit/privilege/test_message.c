/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "privilege/message.h"
#include "unit_test.h"

#define BIG (8 << 20)

static int ends[2];

static int set_up(void **state)
{
	(void)state;
	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends);
}

static int tear_down(void **state)
{
	(void)state;
	close(ends[0]);
	close(ends[1]);
	return 0;
}

static u64 deadline_in_ms(u64 ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec + ms * 1000000;
}

TEST(more_than_the_socket_holds, set_up, tear_down)
{
	char *sent = malloc(BIG), *got = malloc(BIG);
	int status;
	pid_t pid;

	for (size_t i = 0; i < BIG; i++)
		sent[i] = i * 7 >> 3;
	pid = fork();
	if (!pid)
		_exit(message_send(ends[1], sent, BIG, MESSAGE_NO_DEADLINE));
	assert_int_equal(message_receive(ends[0], got, BIG, deadline_in_ms(60000)), 0);
	assert_memory_equal(sent, got, BIG);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	free(sent);
	free(got);
}

static bool are_descriptors_of_same_file(int a, int b)
{
	struct stat first, second;

	return !fstat(a, &first) && !fstat(b, &second) && first.st_ino == second.st_ino &&
	       first.st_dev == second.st_dev;
}

TEST(files_arrive, set_up, tear_down)
{
	int sent[2] = {open("/proc/self/exe", O_RDONLY), open("/", O_PATH)};
	int got[MESSAGE_FILES_MAX];
	char bytes[4];

	assert_int_equal(message_send_files(ends[1], "abc", 4, sent, 2, MESSAGE_NO_DEADLINE), 0);
	assert_int_equal(message_receive_files(ends[0], bytes, 4, got, MESSAGE_NO_DEADLINE), 0);
	assert_string_equal(bytes, "abc");
	for (int i = 0; i < 2; i++) {
		assert_true(are_descriptors_of_same_file(sent[i], got[i]));
		close(sent[i]);
		close(got[i]);
	}
}

TEST(no_files, set_up, tear_down)
{
	int got[MESSAGE_FILES_MAX];
	char byte;

	assert_int_equal(message_send(ends[1], "", 1, MESSAGE_NO_DEADLINE), 0);
	assert_int_equal(message_receive_files(ends[0], &byte, 1, got, deadline_in_ms(60000)), 0);
	assert_int_equal(got[0], -1);
	assert_int_equal(got[1], -1);
}

/* A sandbox may only send bytes. */
TEST(files_are_refused, set_up, tear_down)
{
	int file = open("/", O_PATH), next;
	char byte;

	next = dup(file);
	close(next);
	assert_int_equal(message_send_files(ends[1], "", 1, &file, 1, MESSAGE_NO_DEADLINE), 0);
	assert_int_equal(message_receive(ends[0], &byte, 1, deadline_in_ms(60000)), 0);
	assert_int_equal(fcntl(next, F_GETFD), -1);
	close(file);
}

TEST(a_closed_socket_is_an_error, set_up, tear_down)
{
	char byte;

	close(ends[1]);
	assert_int_equal(message_receive(ends[0], &byte, 1, deadline_in_ms(60000)), -EPIPE);
	assert_int_equal(message_send(ends[0], "", 1, deadline_in_ms(60000)), -EPIPE);
	ends[1] = -1;
}

TEST(a_late_message_is_a_timeout, set_up, tear_down)
{
	char byte, *big = calloc(1, BIG);

	assert_int_equal(message_receive(ends[0], &byte, 1, deadline_in_ms(1)), -ETIMEDOUT);
	assert_int_equal(message_send(ends[0], big, BIG, deadline_in_ms(1)), -ETIMEDOUT);
	free(big);
}
