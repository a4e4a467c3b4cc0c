/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A file that is not converted in time is converted by the reader of the instance. */
#include "capture/instance/running_code.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture/load/skeleton.h"
#include "clock.h"
#include "interrupt.h"
#include "symbol/symbolizer/symbolizers.h"

#define NUMBERS_AT_ONCE 1024

struct running_file {
	u32 number, mappings;
	u32 place; /* the last one in the order of the iterator: by process, then by address */
};

static void count_mappings(struct running_file *files, const u32 *numbers, size_t count, u32 *place)
{
	for (size_t i = 0; i < count; i++) {
		if (numbers[i] >= MAPPINGS_MAX)
			continue;
		files[numbers[i]].number = numbers[i];
		files[numbers[i]].mappings++;
		files[numbers[i]].place = ++*place;
	}
}

/* The kernel hands out whole numbers: a read that has room for many ends with one. */
static void read_numbers(int iterator, struct running_file *files, u32 *place)
{
	u32 numbers[NUMBERS_AT_ONCE];
	ssize_t bytes;

	do {
		bytes = read(iterator, numbers, sizeof(numbers));
		if (bytes > 0)
			count_mappings(files, numbers, bytes / sizeof(*numbers), place);
	} while (bytes > 0 || (bytes < 0 && errno == EAGAIN && !interrupted()));
}

/* pid 0: of all processes */
static void meet_files_of(int program, u32 pid, struct running_file *files, u32 *place)
{
	union bpf_iter_link_info info = {.task.pid = pid};
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info,
		    .iter_info_len = sizeof(info));
	int link = bpf_link_create(program, 0, BPF_TRACE_ITER, &options);
	int iterator = link < 0 ? -1 : bpf_iter_create(link);

	if (iterator >= 0) {
		read_numbers(iterator, files, place);
		close(iterator);
	}
	if (link >= 0)
		close(link);
}

static void meet_files(int program, const struct number_list *pids, struct running_file *files)
{
	u32 place = 0;

	if (!pids->count)
		meet_files_of(program, 0, files, &place);
	for (size_t i = 0; i < pids->count; i++)
		meet_files_of(program, pids->ranges[i].first, files, &place);
}

/* Among files with equally many mappings the one at the highest address comes first. The kernel
 * maps downwards, and linkers map the libraries that the program itself names before those that
 * libraries name. */
static int by_mappings(const void *a, const void *b)
{
	const struct running_file *left = a, *right = b;

	if (left->mappings != right->mappings)
		return left->mappings < right->mappings ? 1 : -1;
	return left->place < right->place ? 1 : -(left->place > right->place);
}

static void ask(const struct loaded *loaded, struct symbolizers *symbolizers,
		const struct running_file *files, u32 most)
{
	int map = bpf_map__fd(loaded_programs(loaded)->maps.file_tables);

	for (u32 i = 0; i < most && files[i].mappings; i++)
		symbolizers_tabulate(symbolizers, files[i].number,
				     loaded_mapping_record(loaded, files[i].number), map);
}

void running_code_ask(const struct loaded *loaded, struct symbolizers *symbolizers,
		      const struct number_list *pids, u32 most)
{
	struct running_file *files;

	if (loaded->running_code_program < 0)
		return;
	files = calloc(MAPPINGS_MAX, sizeof(*files));
	if (!files)
		return;
	meet_files(loaded->running_code_program, pids, files);
	qsort(files, MAPPINGS_MAX, sizeof(*files), by_mappings);
	ask(loaded, symbolizers, files, most);
	free(files);
}

/* The results of table requests have no names, so the callbacks write none. */
int running_code_visit(struct symbolizers *symbolizers)
{
	const struct symbolizers_sink nowhere = {};

	return symbolizers_visit(symbolizers, &nowhere);
}

static bool is_busy(const struct symbolizers *symbolizers)
{
	return symbolizers_are_tabulating(symbolizers) || symbolizers_are_analysing(symbolizers);
}

static void await(struct symbolizers *symbolizers, u32 ms)
{
	u64 end = clock_ms() + ms, now;

	do {
		if (running_code_visit(symbolizers))
			return;
		now = clock_ms();
		if (is_busy(symbolizers) && now < end)
			symbolizers_wait(symbolizers, end - now);
	} while (is_busy(symbolizers) && now < end && !interrupted());
}

void running_code_tabulate(const struct loaded *loaded, struct symbolizers *symbolizers,
			   const struct number_list *pids, u32 ms)
{
	running_code_ask(loaded, symbolizers, pids, MAPPINGS_MAX);
	await(symbolizers, ms);
}
