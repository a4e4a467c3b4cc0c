/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The two ends of a file: what must stand before the first event, and what is known only after the
 * last one: the names of all frames, and the ledger.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/account.h"
#include "capture/answers.h"
#include "capture/instance.h"
#include "capture/load/skeleton.h"
#include "capture/naming.h"
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

int capture_begin(struct capture *capture, struct trace_writer *writer,
		  struct stackmap_error *error)
{
	u32 kind;
	int result = 0;

	account_begin(capture);
	for (kind = 0; kind < capture->sources->count && !result; kind++) {
		const struct source *source = &capture->sources->sources[kind];
		struct trace_source written = source_written(source);

		result = trace_writer_source(writer, &written);
	}
	result = result
			 ?: kernel_image_modules(symbolizers_kernel_files(capture->symbolizers),
						 write_module, writer, error);
	result = result ?: task_log_scan(capture->tasks, writer);
	result = result ?: trace_writer_flush(writer);
	if (result)
		error_set(error, -result, "the recording cannot be begun: %s", strerror(-result));
	return result;
}

int capture_finish(struct capture *capture, struct trace_writer *writer,
		   struct trace_ledger *ledger, struct stackmap_error *error)
{
	struct trace_cpu_ledger *cpus = calloc(capture->plan.config.cpus, sizeof(*cpus));
	int result;

	if (!cpus)
		return error_set(error, ENOMEM, "ledger: %s", strerror(ENOMEM));
	if (capture->join)
		answers_end(capture, writer);
	trace_writer_flush(writer);
	result = capture_name_frames(capture, writer, error);
	account_file(capture, trace_writer_recorded(writer), trace_writer_lost(writer), ledger,
		     cpus);
	trace_writer_ledger(writer, ledger, cpus, capture->plan.config.cpus);
	if (!capture->plan.config.flight && !capture->rings.live)
		account_told(capture, ledger, cpus);
	free(cpus);
	return result;
}
