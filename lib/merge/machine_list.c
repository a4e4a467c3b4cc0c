/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The realtime clock is adjusted now and then, so boot times within a minute are the same boot:
 * no machine boots twice within a minute. */
#include "machine_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "code_space.h"

#define SAME_START_NS (60 * 1000000000ULL)
#define CPUS_MAX 65536U

static u64 boot_realtime_of_recording(const struct trace_reader *reader)
{
	const struct trace_info *info = trace_reader_info(reader);

	return info->start_realtime - info->start_monotonic;
}

static int find_or_add_machine(struct machine_list *list, const struct trace_reader *reader,
			       u32 *index)
{
	const struct trace_info *info = trace_reader_info(reader);
	u64 booted = boot_realtime_of_recording(reader), apart;
	struct machine *machine;

	for (*index = 0; *index < list->count; ++*index) {
		machine = &list->machines[*index];
		apart = machine->booted > booted ? machine->booted - booted
						 : booted - machine->booted;
		if (strcmp(machine->hostname, info->hostname) == 0 && apart < SAME_START_NS)
			break;
	}
	machine = &list->machines[*index];
	if (*index == MACHINES_MAX)
		return -E2BIG;
	if (*index == list->count) {
		*machine = (struct machine){.hostname = info->hostname, .booted = booted};
		list->count++;
	}
	if (machine->cpus < info->cpus)
		machine->cpus = info->cpus;
	if (booted < list->booted)
		list->booted = booted;
	return 0;
}

int machine_list_create(struct machine_list *list, struct trace_reader *const *readers, u32 count)
{
	struct machine_list made = {.booted = UINT64_MAX};
	u64 cpus = 0;
	int err = 0;

	made.machines = calloc(count + 1UL, sizeof(*made.machines));
	made.machine_of = calloc(count + 1UL, sizeof(*made.machine_of));
	if (!made.machines || !made.machine_of)
		err = -ENOMEM;
	for (u32 i = 0; i < count && !err; i++)
		err = find_or_add_machine(&made, readers[i], &made.machine_of[i]);
	for (u32 i = 0; i < made.count && !err; i++) {
		made.machines[i].first_cpu = (u32)cpus;
		cpus += made.machines[i].cpus;
		err = cpus > CPUS_MAX ? -E2BIG : 0;
	}
	made.cpus = (u32)cpus;
	if (err)
		machine_list_free(&made);
	else
		*list = made;
	return err;
}

void machine_list_free(struct machine_list *list)
{
	free(list->machines);
	free(list->machine_of);
	*list = (struct machine_list){};
}

u64 machine_list_time_shift(const struct machine_list *list, const struct trace_reader *reader)
{
	return boot_realtime_of_recording(reader) - list->booted;
}
