/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* record PID FILE: CPU samples of a process, and the system calls in which it writes, until SIGINT;
 * then the account. Prints "ready" when it has begun. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <stackmap/capture.h>

static volatile sig_atomic_t ended;

static void end(int signal)
{
	ended = signal;
}

static void print_account(const struct stackmap_ledger *ledger)
{
	printf("%" PRIu64 " events, %" PRIu64 " recorded\n", ledger->produced, ledger->recorded);
	for (const struct stackmap_count *lost = ledger->lost; lost->name; lost++)
		if (lost->count)
			printf("lost: %" PRIu64 ", %s\n", lost->count, lost->meaning);
}

static int record(struct stackmap_capture *capture, struct stackmap_error *error)
{
	int result = stackmap_capture_start(capture, error);

	if (!result)
		puts("ready"), fflush(stdout);
	while (!result && !ended)
		result = stackmap_capture_poll(capture, 1000, error);
	return result ? result : stackmap_capture_stop(capture, error);
}

int main(int argc, char **argv)
{
	static const char *const events[] = {"cpu-clock", "syscalls:sys_enter_write", NULL};
	const int32_t pids[] = {argc == 3 ? atoi(argv[1]) : 0, 0};
	struct stackmap_capture_opts opts = {.size = sizeof(opts), .pids = pids, .events = events};
	struct stackmap_capture *capture = NULL;
	struct stackmap_error error = {.message = "which process, and which file?"};
	int result = -1;

	signal(SIGINT, end);
	opts.path = argv[argc - 1];
	if (argc == 3)
		result = stackmap_capture_open(&opts, &capture, &error);
	result = result ? result : record(capture, &error);
	if (result)
		fprintf(stderr, "record PID FILE: %s\n", error.message);
	else
		print_account(stackmap_capture_ledger(capture));
	stackmap_capture_close(&capture);
	return result != 0;
}
