/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The price of a user stack at an event: the direct walk through code without frame pointers, with
 * cached rules, compared with bpf_get_stack(BPF_F_USER_STACK) on the same functions with frame
 * pointers. Both give the innermost 20 and 35 frames; the direct walk also gives mapping and offset
 * of each. Rounds alternate, so a slow machine slows both; the figure is the median of the ratios
 * of neighbouring rounds.
 *
 *   unwind_warm [ROUNDS]
 *
 * Exit: 0, 1 failed, 2 wrong usage, 77 not possible here.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "unwind_warm.h"
#include "unwind_warm_stack.h"

#define SKIP 77
#define ROUNDS_DEFAULT 1001
#define LEARN_TURNS 3
#define DEPTH_LEARNED 35
#define TARGET_RATIO 1.0

static volatile struct warm_control *control;

static void *data_memory(struct bpf_object *object)
{
	struct bpf_map *map;
	void *memory;

	bpf_object__for_each_map(map, object)
	{
		if (!strstr(bpf_map__name(map), ".data.control"))
			continue;
		memory = mmap(NULL, sizeof(*control), PROT_READ | PROT_WRITE, MAP_SHARED,
			      bpf_map__fd(map), 0);
		return memory == MAP_FAILED ? NULL : memory;
	}
	return NULL;
}

/* Touches the pages of a file's mapping that the BPF program reads, as the program cannot fault
 * them in. */
static void touch(u64 start, u64 end)
{
	for (u64 page = start; page < end; page += 4096)
		(void)*(volatile char *)page;
}

static void mapping_add(u64 start, u64 end, u64 image)
{
	volatile struct listed_mappings *mappings = &control->mappings;

	if (mappings->count < LISTED_MAPPINGS_MAX)
		mappings->item[mappings->count++] = (struct listed_mapping){start, end, image};
}

/* The first mapping of a file has offset 0, so its start is the file's base. */
static int mappings_give(void)
{
	char line[512], rights[8], file[256];
	unsigned long start, end, offset, image = 0;
	FILE *maps = fopen("/proc/self/maps", "r");

	if (!maps)
		return -errno;
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255s", &start, &end, rights, &offset,
			   file) != 5 ||
		    file[0] != '/' || rights[0] != 'r' || rights[1] == 'w')
			continue;
		if (offset == 0)
			image = start;
		touch(start, end);
		if (rights[2] == 'x')
			mapping_add(start, end, image);
	}
	fclose(maps);
	return 0;
}

static int object_load(void)
{
	struct bpf_object *object = bpf_object__open(UNWIND_WARM_OBJECT);
	static const char *const per_cpu[] = {"scratch_slots", "steps"};
	int code;

	if (!object)
		return -errno;
	for (int i = 0; i < 2; i++)
		bpf_map__set_max_entries(bpf_object__find_map_by_name(object, per_cpu[i]),
					 libbpf_num_possible_cpus());
	code = bpf_object__load(object);
	if (code)
		return code;
	control = data_memory(object);
	if (!control || !bpf_program__attach(bpf_object__next_program(object, NULL)))
		return -ENOENT;
	control->tgid = getpid();
	return 0;
}

static void signal_self(void)
{
	kill(getpid(), SIGURG); /* ignored by default */
}

/* Returns ns per turn of one round, or a negative number on failure. */
static double round_run(enum warm_subject subject, long (*stack)(void (*leaf)(void)))
{
	control->elapsed_ns = 0;
	control->subject = subject;
	stack(signal_self);
	control->subject = WARM_NOTHING;
	if (!control->elapsed_ns || control->failures)
		return -1;
	return (double)control->elapsed_ns / WARM_ROUND;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *values, int count)
{
	qsort(values, count, sizeof(*values), by_value);
	return values[count / 2];
}

struct depth_times {
	double *kernel, *ours, *by_rules; /* ns per stack, one for each round */
	double *ratio;
};

/* Returns 0, or -1 if a subject failed. */
static int rounds_run(struct depth_times *times, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		times->kernel[i] = round_run(WARM_KERNEL, warm_stack_framed);
		times->ours[i] = round_run(WARM_DIRECT, warm_stack_unframed);
		times->by_rules[i] = round_run(WARM_RULES, warm_stack_unframed);
		times->ratio[i] = times->ours[i] / times->kernel[i];
		if (times->kernel[i] < 0 || times->ours[i] < 0 || times->by_rules[i] < 0)
			return -1;
	}
	return 0;
}

static void depth_print(const struct depth_times *times, int depth, int rounds)
{
	double ratio = median(times->ratio, rounds);

	printf("%6d %14.1f %14.1f %14.1f %8.3f\n", depth, median(times->kernel, rounds),
	       median(times->ours, rounds), median(times->by_rules, rounds), ratio);
	printf("FIGURE\twarm user stack of %d frames, against bpf_get_stack\t%.2fx\t<= %.1fx\t%s\n",
	       depth, ratio, TARGET_RATIO, ratio <= TARGET_RATIO ? "met" : "missed");
}

static int depth_measure(int depth, int rounds)
{
	double *memory = calloc(4 * (size_t)rounds, sizeof(double));
	struct depth_times times = {memory, memory + rounds, memory + 2 * rounds,
				    memory + 3 * rounds};
	int code = -1;

	control->depth = depth;
	if (memory)
		code = rounds_run(&times, rounds);
	if (!code)
		depth_print(&times, depth, rounds);
	free(memory);
	return code;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS_DEFAULT;
	int code;

	if (rounds < 1)
		return 2;
	code = object_load();
	if (code == -EPERM) {
		printf("skipped: no permission to load BPF programs\n");
		return SKIP;
	}
	if (code || mappings_give()) {
		fprintf(stderr, "unwind_warm: the program cannot be used: %s\n", strerror(-code));
		return 1;
	}
	control->depth = DEPTH_LEARNED;
	for (int i = 0; i < LEARN_TURNS; i++)
		round_run(WARM_LEARN, warm_stack_unframed);
	printf("%6s %14s %14s %14s %8s\n", "frames", "bpf_get_stack", "direct walk",
	       "by rules alone", "ratio");
	if (depth_measure(20, rounds) || depth_measure(35, rounds)) {
		fprintf(stderr, "unwind_warm: a subject did not do its work, stop %llu\n",
			(unsigned long long)control->stop);
		return 1;
	}
	return 0;
}
