/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* hot_functions FILE: how many events of a recording end in each function, the most first. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <stackmap/recording.h>

#define FUNCTIONS_MAX 10000

static struct function {
	const char *label;
	uint64_t count;
} functions[FUNCTIONS_MAX];
static size_t function_count;

static int count_event(void *recording, const struct stackmap_event *event)
{
	const struct stackmap_frame *frame;
	int frames = stackmap_recording_event_frames(recording, event, &frame, 1);
	const char *label = frames > 0 ? frame->label : "[no stack]";
	size_t i = 0;

	while (i < function_count && strcmp(functions[i].label, label))
		i++;
	if (frames < 0 || i == FUNCTIONS_MAX)
		return -1;
	function_count += i == function_count;
	functions[i].label = label;
	functions[i].count += 1 + (uint64_t)event->repeats;
	return 0;
}

static int by_count(const void *a, const void *b)
{
	uint64_t x = ((const struct function *)a)->count, y = ((const struct function *)b)->count;

	return x < y ? 1 : -(x > y);
}

int main(int argc, char **argv)
{
	struct stackmap_recording *recording;
	struct stackmap_error error = {.message = "more functions than expected"};

	if (argc != 2 || stackmap_recording_open(argv[1], &recording, &error) ||
	    stackmap_recording_events(recording, count_event, recording, &error))
		return fprintf(stderr, "hot_functions FILE: %s\n", error.message), 1;
	qsort(functions, function_count, sizeof(*functions), by_count);
	for (size_t i = 0; i < function_count; i++)
		printf("%" PRIu64 " %s\n", functions[i].count, functions[i].label);
	if (stackmap_recording_damage(recording))
		fprintf(stderr, "%s\n", stackmap_recording_damage(recording)->message);
	stackmap_recording_close(&recording);
	return 0;
}
