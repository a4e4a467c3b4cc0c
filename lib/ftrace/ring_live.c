/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The file `stats` of each CPU has the exact number of lost entries and the clock of the ring. The
 * records report the same losses, some of them without a number.
 */
#include "ftrace/ring.h"

#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <time.h>

#include <tracefs.h>

#include "clock.h"
#include "error.h"
#include "ftrace/entry.h"
#include "ledger.h"

struct ring_live {
	struct tracefs_instance *instance;
	struct tep_handle *formats;
	ftrace_take *take;
	void *arg; /* argument of take() */
	struct ftrace_decoder *decoder;
	u64 end, realtime;
	int result;
	char folder[PATH_MAX];
};

static const struct {
	const char *line;
	u32 cause;
} losses[] = {
	{"overrun: %llu", LOST_OVERWRITTEN},
	{"commit overrun: %llu", LOST_RING_BUSY},
	{"dropped events: %llu", LOST_RING_FULL},
};

bool ring_live_is_tracefs_folder(const char *folder)
{
	struct statfs system;

	return !statfs(folder, &system) && system.f_type == TRACEFS_MAGIC;
}

static FILE *open_cpu_stats(const struct ring_live *ring, u32 cpu)
{
	char *file, name[64];
	FILE *stats;

	snprintf(name, sizeof(name), "per_cpu/cpu%u/stats", cpu);
	file = tracefs_instance_get_file(ring->instance, name);
	stats = file ? fopen(file, "re") : NULL;
	tracefs_put_tracing_file(file);
	return stats;
}

/* Reads the time at which the reading ends. The line "now ts: 1234.567890" has microseconds, so the
 * time is rounded up. If the clock does not count nanoseconds, the line has no decimal point. */
static int read_current_trace_clock(struct ring_live *ring)
{
	unsigned long long seconds, micros;
	FILE *stats = open_cpu_stats(ring, 0);
	char line[128];

	if (!stats)
		return -errno;
	while (fgets(line, sizeof(line), stats))
		if (sscanf(line, "now ts: %llu.%llu", &seconds, &micros) == 2)
			ring->end = seconds * 1000000000ULL + (micros + 1) * 1000;
	fclose(stats);
	ring->realtime = clock_ns(CLOCK_REALTIME) - ring->end;
	return ring->end ? 0 : -ENOTSUP;
}

/* An instance without a name (NULL) is the top level of tracefs. */
static int allocate_tracefs_instance_of_folder(struct ring_live *ring)
{
	char *name = strstr(ring->folder, "/instances/");

	if (name) {
		*name = '\0';
		name += strlen("/instances/");
	}
	if (name && strchr(name, '/'))
		return -ENOENT;
	ring->instance = tracefs_instance_alloc(ring->folder, name);
	return ring->instance ? 0 : -ENOENT;
}

static int open_ring_buffers_of_folder(struct ring_live *ring, const char *folder,
				       struct stackmap_error *error)
{
	int err =
		realpath(folder, ring->folder) ? allocate_tracefs_instance_of_folder(ring) : -errno;

	err = err ?: read_current_trace_clock(ring);
	if (!err) {
		ring->formats = tracefs_local_events(ring->folder);
		if (ring->formats)
			tracefs_load_cmdlines(ring->folder, ring->formats);
		else
			err = errno ? -errno : -EIO;
	}
	if (err == -ENOTSUP)
		return error_set(error, ENOTSUP,
				 "%s: its clock does not count nanoseconds; 'echo mono > "
				 "trace_clock' there, and record again",
				 folder);
	return err ? error_set(error, -err, "%s: no ring of ftrace can be read there: %s", folder,
			       strerror(-err))
		   : 0;
}

int ring_live_open(const char *folder, struct ring_live **out, struct stackmap_error *error)
{
	struct ring_live *ring = calloc(1, sizeof(*ring));
	int err;

	if (!ring)
		return error_set_errno(error, ENOMEM, folder);
	tep_set_loglevel(TEP_LOG_NONE);
	err = open_ring_buffers_of_folder(ring, folder, error);
	if (err)
		ring_live_close(&ring);
	else
		*out = ring;
	return err;
}

void ring_live_close(struct ring_live **ring)
{
	if (!*ring)
		return;
	ftrace_decoder_free(&(*ring)->decoder);
	tep_free((*ring)->formats);
	tracefs_instance_free((*ring)->instance);
	free(*ring);
	*ring = NULL;
}

u32 ring_live_cpus(const struct ring_live *ring)
{
	return (u32)tep_get_cpus(ring->formats);
}

u64 ring_live_realtime_offset(const struct ring_live *ring)
{
	return ring->realtime;
}

/* Passes on all entries. Losses that records report are left out, since the statistics of the
 * buffer have them, too. */
static int pass_entry_unless_reported_loss(void *arg, const struct ftrace_entry *entry,
					   const void *payload)
{
	const struct ring_live *ring = arg;

	return entry->what == FTRACE_LOST ? 0 : ring->take(ring->arg, entry, payload);
}

static int decode_record(struct tep_event *event, struct tep_record *record, int cpu, void *arg)
{
	struct ring_live *ring = arg;

	(void)event;
	if (record->ts > ring->end)
		return 1;
	ring->result = ftrace_decode(ring->decoder, record, (u32)cpu);
	return ring->result;
}

static int pass_losses_counted_in_cpu_stats(struct ring_live *ring)
{
	int err = 0;

	for (u32 cpu = 0; !err && cpu < ring_live_cpus(ring); cpu++) {
		FILE *stats = open_cpu_stats(ring, cpu);
		struct ftrace_entry entry;
		unsigned long long count;
		char line[128];

		if (!stats)
			continue;
		entry = (struct ftrace_entry){
			.what = FTRACE_LOST, .time = ring->end, .cpu = (u16)cpu};
		err = 0;
		while (!err && fgets(line, sizeof(line), stats))
			for (size_t i = 0; !err && i < sizeof(losses) / sizeof(losses[0]); i++) {
				if (sscanf(line, losses[i].line, &count) != 1 || !count)
					continue;
				entry.value = count;
				entry.reason = losses[i].cause;
				err = ring->take(ring->arg, &entry, NULL);
			}
		fclose(stats);
	}
	return err;
}

int ring_live_each_entry(struct ring_live *ring, ftrace_take *take, void *arg,
			 struct stackmap_error *error)
{
	int err = ftrace_decoder_create(ring->formats, pass_entry_unless_reported_loss, ring,
					&ring->decoder);

	ring->take = take;
	ring->arg = arg;
	if (err)
		return error_set_errno(error, -err, ring->folder);
	if (tracefs_iterate_raw_events(ring->formats, ring->instance, NULL, 0, decode_record,
				       ring) < 0 &&
	    !ring->result)
		return error_set(error, EIO, "%s: the ring cannot be read", ring->folder);
	return ring->result ?: pass_losses_counted_in_cpu_stats(ring);
}
