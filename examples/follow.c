/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* follow PID EVENT, follow INSTANCE: prints events with their stacks as they come, until the end of
 * the process or instance, or SIGINT; then how many. Prints "ready" when it has begun. */
#include <errno.h>
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

static int print_event(void *recording, const struct stackmap_event *event)
{
	const struct stackmap_frame *frames[STACKMAP_EVENT_FRAMES_MAX];
	int count = stackmap_recording_event_frames(recording, event, frames,
						    STACKMAP_EVENT_FRAMES_MAX);

	printf("%" PRIu64 " thread %" PRIu32 "\n", event->time, event->tid);
	for (int i = 0; i < count; i++)
		printf("    %s\n", frames[i]->label);
	return count < 0 ? count : 0;
}

int main(int argc, char **argv)
{
	const int32_t pids[] = {argc == 3 ? atoi(argv[1]) : 0, 0};
	const char *const events[] = {argv[argc - 1], NULL};
	struct stackmap_capture_opts opts = {.size = sizeof(opts), .pids = pids, .events = events};
	struct stackmap_capture_opts other = {.size = sizeof(opts), .instance = argv[argc - 1]};
	struct stackmap_capture *capture = NULL;
	struct stackmap_recording *window;
	struct stackmap_error error;
	int result;

	signal(SIGINT, end);
	if (stackmap_capture_open(argc == 2 ? &other : &opts, &capture, &error) ||
	    stackmap_capture_start(capture, &error))
		return fprintf(stderr, "follow: %s\n", error.message), 1;
	puts("ready");
	while (!(result = stackmap_capture_next(capture, 200, &window, &error))) {
		fflush(stdout);
		stackmap_recording_events(window, print_event, window, NULL);
		stackmap_recording_close(&window);
		/* What is left comes next, and then -ENODATA. */
		if (ended || stackmap_capture_is_over(capture))
			stackmap_capture_stop(capture, NULL);
	}
	printf("%" PRIu64 " recorded\n", stackmap_capture_ledger(capture)->recorded);
	stackmap_capture_close(&capture);
	return result != -ENODATA;
}
