/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The price of a stack-map hit on top of bpf_get_stack, 10 frames, compared with the same map with
 * jhash and with the kernel's bpf_get_stackid. Rounds of all subjects alternate, so a slow machine
 * slows all of them. The best rounds show the cost of the code. The median of the time that a round
 * adds to its neighbouring round of bpf_get_stack shows the usual cost.
 *
 *   map_hit [ROUNDS]
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

#include "map_hit.h"
#include "stack_table.h"

#define SKIP 77
#define TARGET_NS 60
#define ROUNDS_DEFAULT 1001

enum { STACK, HIT, HIT_JHASH, STACKID, SUBJECTS };

struct object {
	struct bpf_object *bpf;
	struct table_geometry geometry;
	volatile struct map_hit_control *control;
};

struct subject {
	const char *name;
	struct object *object;
	enum map_hit_subject subject;
	double *ns;    /* ns per turn, for each round */
	double *added; /* ns per turn, less that of bpf_get_stack in the same round */
};

static void *map_memory(const struct bpf_map *map, size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static struct bpf_map *data_map(struct object *object, const char *suffix)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map,
				 object->bpf) if (strstr(bpf_map__name(map), suffix)) return map;
	return NULL;
}

static int object_load(struct object *object, const char *path)
{
	struct table_geometry *geometry = &object->geometry;
	struct bpf_map *map;
	void *table;
	int code;

	if (table_geometry_set(geometry, TABLE_BITS_DEFAULT, 1, 0))
		return -1;
	object->bpf = bpf_object__open(path);
	if (!object->bpf)
		return -1;
	map = bpf_object__find_map_by_name(object->bpf, "table");
	bpf_map__set_value_size(map, geometry->bytes);
	bpf_map__set_initial_value(data_map(object, ".rodata"), geometry, sizeof(*geometry));
	code = bpf_object__load(object->bpf);
	if (code)
		return code;
	table = map_memory(map, geometry->bytes);
	object->control = map_memory(data_map(object, ".bss"), sizeof(*object->control));
	if (!table || !object->control)
		return -1;
	object->control->tgid = getpid();
	stack_table_init(table, geometry, 1, 0x9e3779b97f4a7c15ULL);
	return bpf_program__attach(bpf_object__next_program(object->bpf, NULL)) ? 0 : -1;
}

/* Returns ns per turn of one round, or a negative number on failure. */
static double round_run(const struct subject *subject)
{
	volatile struct map_hit_control *control = subject->object->control;

	control->elapsed_ns = 0;
	control->subject = subject->subject;
	kill(getpid(), SIGURG); /* ignored by default */
	control->subject = MAP_HIT_NOTHING;
	if (!control->elapsed_ns || control->failures)
		return -1;
	return (double)control->elapsed_ns / MAP_HIT_ROUND;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int rounds_run(struct subject *subjects, int rounds)
{
	for (int i = 0; i < rounds; i++)
		for (int s = 0; s < SUBJECTS; s++) {
			subjects[s].ns[i] = round_run(&subjects[s]);
			if (subjects[s].ns[i] < 0)
				return -1;
			subjects[s].added[i] = subjects[s].ns[i] - subjects[STACK].ns[i];
		}
	return 0;
}

static void subject_print(struct subject *subject, const struct subject *base, int rounds)
{
	int median = rounds / 2;

	qsort(subject->ns, rounds, sizeof(double), by_value);
	qsort(subject->added, rounds, sizeof(double), by_value);
	printf("%-34s %8.1f %8.1f %8.1f %8.1f %7.3f\n", subject->name, subject->ns[0],
	       subject->ns[median], subject->ns[0] - base->ns[0], subject->added[median],
	       subject->ns[median] / base->ns[median]);
}

static void figure_print(const struct subject *subjects)
{
	double added = subjects[HIT].ns[0] - subjects[STACK].ns[0];

	printf("FIGURE\tns of a stack-map hit\t%.1f\t<= %d\t%s\n", added, TARGET_NS,
	       added <= TARGET_NS ? "met" : "missed");
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : ROUNDS_DEFAULT;
	struct object own = {0}, jhash = {0};
	int code;
	struct subject subjects[SUBJECTS] = {
		[STACK] = {"bpf_get_stack", &own, MAP_HIT_STACK},
		[HIT] = {"bpf_get_stack + stack map", &own, MAP_HIT_MAP},
		[HIT_JHASH] = {"bpf_get_stack + stack map, jhash", &jhash, MAP_HIT_MAP},
		[STACKID] = {"bpf_get_stackid", &own, MAP_HIT_STACKID},
	};

	if (rounds < 1)
		return 2;
	code = object_load(&own, MAP_HIT_OBJECT);
	if (code == -EPERM) {
		printf("skipped: no permission to load BPF programs\n");
		return SKIP;
	}
	if (code || object_load(&jhash, MAP_HIT_JHASH_OBJECT)) {
		fprintf(stderr, "map_hit: the programs cannot be used\n");
		return 1;
	}
	for (int s = 0; s < SUBJECTS; s++) {
		subjects[s].ns = calloc(rounds, sizeof(double));
		subjects[s].added = calloc(rounds, sizeof(double));
		if (!subjects[s].ns || !subjects[s].added)
			return 1;
	}
	if (rounds_run(subjects, rounds)) {
		fprintf(stderr, "map_hit: a subject did not do its work\n");
		return 1;
	}
	printf("%-34s %8s %8s %8s %8s %7s\n", "ns per event, 10 frames", "best", "median", "+best",
	       "+median", "ratio");
	for (int s = 0; s < SUBJECTS; s++)
		subject_print(&subjects[s], &subjects[STACK], rounds);
	figure_print(subjects);
	return 0;
}
