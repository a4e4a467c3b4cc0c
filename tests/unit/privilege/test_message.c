/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "privilege/message.h"

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

static u64 in_ms(u64 ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec + ms * 1000000;
}

static void test_more_than_the_socket_holds(void **state)
{
	char *sent = malloc(BIG), *got = malloc(BIG);
	int status;
	pid_t pid;

	(void)state;
	for (size_t i = 0; i < BIG; i++)
		sent[i] = i * 7 >> 3;
	pid = fork();
	if (!pid)
		_exit(message_send(ends[1], sent, BIG, MESSAGE_NO_DEADLINE));
	assert_int_equal(message_receive(ends[0], got, BIG, in_ms(60000)), 0);
	assert_memory_equal(sent, got, BIG);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	free(sent);
	free(got);
}

static bool same_file(int a, int b)
{
	struct stat first, second;

	return !fstat(a, &first) && !fstat(b, &second) && first.st_ino == second.st_ino &&
	       first.st_dev == second.st_dev;
}

static void test_files_arrive(void **state)
{
	int sent[2] = {open("/proc/self/exe", O_RDONLY), open("/", O_PATH)};
	int got[MESSAGE_FILES_MAX];
	char bytes[4];

	(void)state;
	assert_int_equal(message_send_files(ends[1], "abc", 4, sent, 2, MESSAGE_NO_DEADLINE), 0);
	assert_int_equal(message_receive_files(ends[0], bytes, 4, got, MESSAGE_NO_DEADLINE), 0);
	assert_string_equal(bytes, "abc");
	for (int i = 0; i < 2; i++) {
		assert_true(same_file(sent[i], got[i]));
		close(sent[i]);
		close(got[i]);
	}
}

static void test_no_files(void **state)
{
	int got[MESSAGE_FILES_MAX];
	char byte;

	(void)state;
	assert_int_equal(message_send(ends[1], "", 1, MESSAGE_NO_DEADLINE), 0);
	assert_int_equal(message_receive_files(ends[0], &byte, 1, got, in_ms(60000)), 0);
	assert_int_equal(got[0], -1);
	assert_int_equal(got[1], -1);
}

/* What comes from a sandbox is bytes. */
static void test_files_are_refused(void **state)
{
	int file = open("/", O_PATH), next;
	char byte;

	(void)state;
	next = dup(file);
	close(next);
	assert_int_equal(message_send_files(ends[1], "", 1, &file, 1, MESSAGE_NO_DEADLINE), 0);
	assert_int_equal(message_receive(ends[0], &byte, 1, in_ms(60000)), 0);
	assert_int_equal(fcntl(next, F_GETFD), -1);
	close(file);
}

static void test_the_other_side_is_gone(void **state)
{
	char byte;

	(void)state;
	close(ends[1]);
	assert_int_equal(message_receive(ends[0], &byte, 1, in_ms(60000)), -EPIPE);
	assert_int_equal(message_send(ends[0], "", 1, in_ms(60000)), -EPIPE);
	ends[1] = -1;
}

static void test_too_late(void **state)
{
	char byte, *big = calloc(1, BIG);

	(void)state;
	assert_int_equal(message_receive(ends[0], &byte, 1, in_ms(1)), -ETIMEDOUT);
	assert_int_equal(message_send(ends[0], big, BIG, in_ms(1)), -ETIMEDOUT);
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_more_than_the_socket_holds, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_arrive, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_no_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_files_are_refused, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_the_other_side_is_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_too_late, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
