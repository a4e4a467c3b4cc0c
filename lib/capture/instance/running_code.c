/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files that are not converted in time are converted for the reader of the instance. */
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
	u32 place; /* index of the file's last mapping; the iterator goes over mappings by process,
		      then by address */
};

/* Counts the mappings of each file in a process; pid 0: in all processes. */
static void count_mappings_of_files_in_process(int program, u32 pid, struct running_file *files,
					       u32 *place)
{
	union bpf_iter_link_info info = {.task.pid = pid};
	LIBBPF_OPTS(bpf_link_create_opts, options, .iter_info = &info,
		    .iter_info_len = sizeof(info));
	u32 numbers[NUMBERS_AT_ONCE];
	ssize_t bytes;
	int link = bpf_link_create(program, 0, BPF_TRACE_ITER, &options);
	int iterator = link < 0 ? -1 : bpf_iter_create(link);

	if (iterator >= 0) {
		/* Each read has room for many numbers and ends after a whole number. */
		do {
			bytes = read(iterator, numbers, sizeof(numbers));
			for (ssize_t i = 0; i < bytes / (ssize_t)sizeof(*numbers); i++) {
				if (numbers[i] >= MAPPINGS_MAX)
					continue;
				files[numbers[i]].number = numbers[i];
				files[numbers[i]].mappings++;
				files[numbers[i]].place = ++*place;
			}
		} while (bytes > 0 || (bytes < 0 && errno == EAGAIN && !interrupted()));
		close(iterator);
	}
	if (link >= 0)
		close(link);
}

/* Orders files by their number of mappings. Among files with equally many mappings the file at the
 * highest address comes first: the kernel maps downwards, and dynamic linkers map the libraries of
 * the program before the libraries of its libraries. */
static int compare_files_by_mapping_count(const void *a, const void *b)
{
	const struct running_file *left = a, *right = b;

	if (left->mappings != right->mappings)
		return left->mappings < right->mappings ? 1 : -1;
	return left->place < right->place ? 1 : -(left->place > right->place);
}

void running_code_request_tables(const struct loaded *loaded, struct symbolizers *symbolizers,
				 const struct number_list *pids, u32 most)
{
	int map = bpf_map__fd(loaded_programs(loaded)->maps.file_tables);
	struct running_file *files;
	u32 place = 0;

	if (loaded->running_code_program < 0)
		return;
	files = calloc(MAPPINGS_MAX, sizeof(*files));
	if (!files)
		return;
	if (!pids->count)
		count_mappings_of_files_in_process(loaded->running_code_program, 0, files, &place);
	for (size_t i = 0; i < pids->count; i++)
		count_mappings_of_files_in_process(loaded->running_code_program,
						   pids->ranges[i].first, files, &place);
	qsort(files, MAPPINGS_MAX, sizeof(*files), compare_files_by_mapping_count);
	for (u32 i = 0; i < most && files[i].mappings; i++)
		symbolizers_request_unwind_table(symbolizers, files[i].number,
						 loaded_mapping_record(loaded, files[i].number),
						 map);
	free(files);
}

/* Results of table requests have no symbols, so no callback is needed. */
int running_code_take_answers(struct symbolizers *symbolizers)
{
	const struct symbolizers_sink nowhere = {};

	return symbolizers_exchange_messages(symbolizers, &nowhere);
}

static bool has_open_requests(const struct symbolizers *symbolizers)
{
	return symbolizers_have_pending_tables(symbolizers) ||
	       symbolizers_are_analysing(symbolizers);
}

static void await_tables(struct symbolizers *symbolizers, u32 ms)
{
	u64 end = clock_ms() + ms, now;

	do {
		if (running_code_take_answers(symbolizers))
			return;
		now = clock_ms();
		if (has_open_requests(symbolizers) && now < end)
			symbolizers_wait(symbolizers, end - now);
	} while (has_open_requests(symbolizers) && now < end && !interrupted());
}

void running_code_await_tables(struct loaded *loaded, struct symbolizers *symbolizers,
			       const struct number_list *pids, u32 ms)
{
	running_code_request_tables(loaded, symbolizers, pids, MAPPINGS_MAX);
	await_tables(symbolizers, ms);
	if (symbolizers_can_leave_generated_code(symbolizers))
		loaded_stop_walks_at_generated_code(loaded);
}
