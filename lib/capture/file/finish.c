/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Begin and end of a recording file: sources and kernel modules are written before the first event,
 * symbols of frames and the ledger after the last event.
 */
#include "capture/file/recording_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drain/alive_events.h"
#include "capture/drain/counted_events.h"
#include "capture/drain/deferred.h"
#include "capture/drain/file_ledger.h"
#include "capture/drain/late_contexts.h"
#include "capture/drain/span_stacks.h"
#include "capture/drain/symbols.h"
#include "capture/drain/thread_times.h"
#include "capture/file/file_symbols.h"
#include "clock.h"
#include "error.h"
#include "interrupt.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/symbolizer/context_finder.h"
#include "symbol/symbolizer/process_contexts.h"
#include "symbol/symbolizer/symbolizers.h"

#define RULES_MS 1000 /* longest wait for unwind rules at the end of a file */
#define RULES_LOOK_MS 20

static int write_module(void *writer, const struct trace_module *module)
{
	return trace_writer_module(writer, module);
}

static struct trace_source make_trace_source(const struct source *source)
{
	u32 leaf = source->type == SOURCE_SAMPLE ? TRACE_EXTRA_LEAF : 0;

	return (struct trace_source){
		.name = source->name,
		.extras = leaf | (source->unit ? TRACE_EXTRA_VALUE : 0) |
			  (source->further_unit ? TRACE_EXTRA_FURTHER : 0),
		.value_unit = source->unit ? source->unit : "",
		.further_unit = source->further_unit ? source->further_unit : "",
		.value_name = source->value_name ? source->value_name : "",
		.further_name = source->further_name ? source->further_name : "",
	};
}

int recording_begin(struct recording *recording, struct trace_writer *writer,
		    struct stackmap_error *error)
{
	const struct loaded *loaded = recording->loaded;
	const struct source_list *sources = loaded->sources;
	int result = 0;

	recording->mode = loaded_is_frozen(loaded) ? READ_LIVE : READ_DRAIN;
	if (loaded_is_flight(loaded) && !loaded->opened)
		recording->mode = READ_SNAPSHOT;
	recording_reset_state_for_new_file(recording);
	file_ledger_store_earlier_counts(recording);
	for (u32 kind = 0; kind < sources->count && !result; kind++) {
		struct trace_source written = make_trace_source(&sources->sources[kind]);

		result = trace_writer_source(writer, &written);
	}
	result = result
			 ?: kernel_image_each_module(symbolizers_kernel_files(recording->symbolizers),
						 write_module, writer, error)
			 ?: task_log_begin_file_and_scan_threads(recording->tasks, writer,
					 loaded_pid_if_only_command_is_recorded(recording->loaded))
			 ?: trace_writer_flush(writer);
	if (!result && !recording->kernel_asked && recording->loaded->plan.config.kernel_stacks) {
		recording->kernel_asked = true;
		result = symbolizers_request_kernel_names_early(recording->symbolizers);
	}
	symbols_update_rules_awaited(recording);
	recording->writer = result ? NULL : writer;
	if (result)
		error_set(error, -result, "the recording cannot be begun: %s", strerror(-result));
	return result;
}

static int write_process_context(void *writer, const struct trace_process *process)
{
	return trace_writer_process(writer, process);
}

/* Writes the process contexts that were found. After a drain's file, the contexts of processes that
 * had ended before the file are dropped, as no later file has events of such a process. */
static int write_found_process_contexts(struct recording *recording)
{
	struct process_contexts *contexts = context_finder_contexts(recording->contexts);
	int result;

	context_finder_collect(recording->contexts);
	result = process_contexts_each(contexts, write_process_context, recording->writer);
	recording->written.notes[NOTE_UNKEPT_PROCESSES] +=
		process_contexts_end_file(contexts, recording->mode != READ_DRAIN);
	return result;
}

int recording_finish(struct recording *recording, struct trace_ledger *ledger,
		     struct stackmap_error *error)
{
	struct trace_cpu_ledger *cpus = calloc(recording->loaded->plan.config.cpus, sizeof(*cpus));
	u64 *lost = calloc(recording->loaded->sources->count + 1UL, sizeof(*lost));
	int result = 0;

	if (!cpus || !lost) {
		free(cpus);
		free(lost);
		return error_set(error, ENOMEM, "ledger: %s", strerror(ENOMEM));
	}
	if (recording->deferred) {
		u64 until = clock_ms() + RULES_MS;

		/* Held stacks wait for unwind rules. This wait is left out if another window
		 * follows, since its events need space in the rings, which nothing reads here. */
		while (!recording->named_ahead && deferred_has_held_stacks(recording) &&
		       clock_ms() < until && !interrupted()) {
			symbolizers_wait(recording->symbolizers, RULES_LOOK_MS);
			symbols_visit_symbolizers(recording);
			deferred_unwind_held(recording, false);
		}
		deferred_end_file(recording);
		result = late_contexts_write_all(recording);
	}
	if (recording->times)
		thread_times_write_open(recording);
	counted_events_write(recording);
	if (recording->alive) {
		int failed = alive_events_write(recording);

		if (failed)
			error_set(error, -failed, "things that are alive: %s", strerror(-failed));
		result = first_error(result, failed);
	}
	if (recording->spans)
		result = first_error(result, span_stacks_write_all_ends(recording));
	if (recording->contexts)
		result = first_error(result, write_found_process_contexts(recording));
	trace_writer_flush(recording->writer);
	result = first_error(result, file_symbols_finish(recording, error)
					     ?: script_names_write_unread_interpreters(recording));
	file_ledger_add_losses_by_source(recording, lost);
	file_ledger_sum(recording, ledger, cpus);
	trace_writer_ledger(recording->writer, ledger, cpus, recording->loaded->plan.config.cpus);
	trace_writer_losses(recording->writer, lost);
	if (recording->mode == READ_DRAIN)
		file_ledger_mark_as_reported(recording, ledger, cpus, lost);
	free(cpus);
	free(lost);
	recording->writer = NULL;
	return result;
}
