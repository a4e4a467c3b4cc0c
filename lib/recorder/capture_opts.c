/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The struct grows at its end. A program of an older header has a shorter one: what it does not
 * know is 0. One of a newer header may know more than this library: as long as that is 0, it asks
 * for nothing that would not be done.
 */
#include "recorder/capture_opts.h"

#include <errno.h>
#include <string.h>

#include "error.h"

#define SIZE_MAX_KNOWN 4096 /* no version has as much: it was not set */

static bool is_zero(const char *bytes, size_t count)
{
	while (count)
		if (bytes[--count])
			return false;
	return true;
}

int capture_opts_read(const struct stackmap_capture_opts *given, struct stackmap_capture_opts *opts,
		      struct stackmap_error *error)
{
	size_t size = given ? given->size : 0, known = sizeof(*opts);

	if (!given)
		return error_set(error, EINVAL, "stackmap_capture_opts: none are given (NULL)");
	if (size < sizeof(given->size) || size > SIZE_MAX_KNOWN)
		return error_set(error, EINVAL, "stackmap_capture_opts: size is not set");
	if (size > known && !is_zero((const char *)given + known, size - known))
		return error_set(error, E2BIG,
				 "stackmap_capture_opts: an option of a later version of stackmap");
	*opts = (struct stackmap_capture_opts){};
	memcpy(opts, given, size < known ? size : known);
	return 0;
}

static int choose_sources(const struct stackmap_capture_opts *opts, struct source_list *sources,
			  struct stackmap_error *error)
{
	u64 frequency = opts->frequency ?: SAMPLE_FREQUENCY_DEFAULT;
	int result = 0;

	if (!opts->events)
		return source_list_add_sample(sources, frequency, error);
	for (const char *const *event = opts->events; *event && !result; event++)
		result = source_list_add(sources, *event, opts->frequency, error);
	if (!result && !sources->count)
		return error_set(error, EINVAL, "stackmap_capture_opts: no events");
	return result;
}

int capture_target_choose(const struct stackmap_capture_opts *opts, struct capture_target *target,
			  struct stackmap_error *error)
{
	int result = opts->cpus ? online_cpus_choose(opts->cpus, target->cpu_mask, error) : 0;

	target->comm = opts->comm;
	result = result ?: choose_sources(opts, &target->sources, error);
	if (result)
		return result;
	target->options = (struct capture_options){
		.sources = &target->sources,
		.bits = opts->bits,
		.ring_bytes = opts->ring_bytes,
		.no_kernel_stacks = opts->no_kernel_stacks,
		.no_user_stacks = opts->no_user_stacks,
		.user_unwind = USER_UNWIND_AUTO,
		.max_user_depth = opts->max_depth,
		.by_task = opts->pids && *opts->pids,
		.comms = {.items = &target->comm, .count = opts->comm != NULL},
		.cgroup = opts->cgroup,
		.cpu_mask = opts->cpus ? target->cpu_mask : NULL,
	};
	return 0;
}

void capture_target_clear(struct capture_target *target)
{
	source_list_clear(&target->sources);
}
