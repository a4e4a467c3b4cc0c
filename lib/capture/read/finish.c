/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two ends of a file: what must stand before the first event, and what is known only after the
 * last one: the names of all frames, and the ledger.
 */
#include "capture/read/finish.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/drain/account.h"
#include "capture/drain/deferred.h"
#include "capture/read/naming.h"
#include "error.h"
#include "symbol/kernel/kernel_image.h"
#include "symbol/symbolizer/symbolizers.h"

static int write_module(void *writer, const struct trace_module *module)
{
	return trace_writer_module(writer, module);
}

static struct trace_source source_written(const struct source *source)
{
	u32 leaf = source->type == SOURCE_SAMPLE ? TRACE_EXTRA_LEAF : 0;

	return (struct trace_source){
		.name = source->name,
		.extras = leaf | (source->unit ? TRACE_EXTRA_VALUE : 0),
		.value_unit = source->unit ? source->unit : "",
	};
}

static enum read_mode mode_of(const struct loaded *loaded)
{
	if (loaded_is_flight(loaded) && !loaded->opened)
		return READ_SNAPSHOT;
	return loaded_is_frozen(loaded) ? READ_LIVE : READ_DRAIN;
}

int recording_begin(struct recording *recording, struct trace_writer *writer,
		    struct stackmap_error *error)
{
	u32 kind;
	int result = 0;

	recording->writer = writer;
	recording->mode = mode_of(recording->loaded);
	recording_begin_file(recording);
	account_begin(recording);
	for (kind = 0; kind < recording->loaded->sources->count && !result; kind++) {
		const struct source *source = &recording->loaded->sources->sources[kind];
		struct trace_source written = source_written(source);

		result = trace_writer_source(recording->writer, &written);
	}
	result = result
			 ?: kernel_image_modules(symbolizers_kernel_files(recording->symbolizers),
						 write_module, recording->writer, error);
	result = result ?: task_log_scan(recording->tasks, recording->writer);
	result = result ?: trace_writer_flush(recording->writer);
	if (result)
		error_set(error, -result, "the recording cannot be begun: %s", strerror(-result));
	return result;
}

int recording_finish(struct recording *recording, struct trace_ledger *ledger,
		     struct stackmap_error *error)
{
	struct trace_cpu_ledger *cpus = calloc(recording->loaded->plan.config.cpus, sizeof(*cpus));
	int result;

	if (!cpus)
		return error_set(error, ENOMEM, "ledger: %s", strerror(ENOMEM));
	if (recording->deferred)
		deferred_end(recording);
	trace_writer_flush(recording->writer);
	result = naming_finish(recording, error);
	account_file(recording, trace_writer_recorded(recording->writer),
		     trace_writer_lost(recording->writer), ledger, cpus);
	trace_writer_ledger(recording->writer, ledger, cpus, recording->loaded->plan.config.cpus);
	if (recording->mode == READ_DRAIN)
		account_told(recording->loaded, ledger, cpus);
	free(cpus);
	recording->writer = NULL;
	return result;
}
