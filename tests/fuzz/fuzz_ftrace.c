/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* libFuzzer target of an import: any bytes from the sandbox give an error, or a recording that can
 * be read and whose ledger adds up. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "ftrace/entry.h"
#include "ftrace/events.h"
#include "trace/write/memory_recording.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes);

static int take(void *events, const struct ftrace_entry *entry, const void *payload)
{
	return ftrace_events_take(events, entry, payload);
}

static int count(void *events, const struct trace_event *event)
{
	(void)event;
	++*(u64 *)events;
	return 0;
}

static void check(struct trace_reader *reader)
{
	const struct trace_ledger *ledger = trace_reader_ledger(reader);
	u64 events = 0, users = 0;

	if (trace_reader_damage(reader) || !ledger ||
	    trace_reader_events(reader, count, &events, NULL))
		abort();
	for (u32 i = 0; i < REASON_COUNT; i++)
		users += ledger->user_reasons[i];
	for (u32 i = 0; i < STOP_COUNT; i++)
		users += ledger->user_stops[i];
	if (ledger->recorded != events || users != events)
		abort();
}

static bool is_odd_kernel_address(void *arg, u64 address)
{
	(void)arg;
	return address & 1;
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t bytes)
{
	const struct trace_info info = {.cpus = 2,
					.hostname = "",
					.kernel = "",
					.machine = "",
					.command = "",
					.version = ""};
	struct memory_recording recording = {};
	struct trace_reader *reader;
	struct stack_files *files;
	struct ftrace_events *events;
	int err;

	if (memory_recording_begin(&recording, "fuzz", &info, NULL) ||
	    stack_files_open("corpus", &files, NULL) ||
	    ftrace_events_create(recording.writer, files, is_odd_kernel_address, NULL, &events))
		abort();
	err = ftrace_batch_read(data, (u32)bytes, take, events);
	err = ftrace_events_end(events) ?: err == -EBADMSG ? 0 : err;
	if (err || memory_recording_end(&recording, &reader, NULL))
		abort();
	check(reader);
	trace_reader_close(&reader);
	ftrace_events_free(&events);
	stack_files_free(&files);
	return 0;
}
