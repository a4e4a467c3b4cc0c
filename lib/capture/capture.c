/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Creates a capture with the best methods that the kernel accepts, opens the capture of an
 * instance, and frees the parts of a capture in order. */
#include "capture/capture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture_parts.h"
#include "capture/drain/deferred.h"
#include "capture/drain/drain.h"
#include "capture/drain/recording.h"
#include "capture/drain/symbols.h"
#include "capture/drain/thread_times.h"
#include "capture/feature/feature.h"
#include "capture/feature/task_work.h"
#include "capture/file/lock_holders.h"
#include "capture/file/recording_file.h"
#include "capture/file/unwind_blocked.h"
#include "capture/instance/persist.h"
#include "capture/instance/reset.h"
#include "capture/source/source_needs.h"
#include "error.h"
#include "interrupt.h"
#include "privilege/limit.h"
#include "symbol/symbolizer/symbolizers.h"

static struct capture *allocate_capture(void)
{
	struct capture *capture = calloc(1, sizeof(*capture));

	if (capture)
		loaded_init(&capture->loaded);
	return capture;
}

static int set_error_of_symbolizer_start(int result, struct stackmap_error *error)
{
	return error_set(error, -result, "the process that reads symbols: %s%s", strerror(-result),
			 limit_advice(-result));
}

/* The symbolizers are forked first, so that these processes have no copy of the memory and the
 * descriptors that are made later. They start up while the programs are loaded. */
static int start_symbolizers_and_load_programs(struct capture *capture,
					       const struct capture_options *options,
					       struct stackmap_error *error)
{
	struct command_code *code = &capture->command_code;
	const struct meanwhile meanwhile = {.call = command_code_poll, .arg = code};
	int result = symbolizers_create(&capture->symbolizers);

	if (result)
		return set_error_of_symbolizer_start(result, error);
	*code = (struct command_code){.loaded = &capture->loaded,
				      .symbolizers = capture->symbolizers};
	if (plan_defers_user_stacks(&capture->loaded.plan))
		command_code_start_linker(code, options->command_path);
	result = loaded_prepare(&capture->loaded, error)
			 ?: loaded_load(&capture->loaded, &meanwhile, error);
	command_code_end(code);
	if (result)
		return result;
	symbolizers_take_kernel_copy(capture->symbolizers,
				     loaded_take_kernel_copy(&capture->loaded));
	result = symbolizers_await_root_process(capture->symbolizers);
	return result ? set_error_of_symbolizer_start(result, error) : 0;
}

static int build_capture(struct capture *capture, const struct capture_options *options,
			 struct stackmap_error *error)
{
	struct loaded *loaded = &capture->loaded;
	int result = loaded_plan(loaded, options, error)
			     ?: start_symbolizers_and_load_programs(capture, options, error);

	if (result)
		return result;
	result = recording_create(&capture->recording, loaded, capture->symbolizers);
	if (result)
		return error_set(error, -result, "rings: %s%s", strerror(-result),
				 limit_advice(-result));
	loaded_leave_out_self(loaded);
	return attachment_attach_hooks(&loaded->attachment, error);
}

/* One attempt to create a capture. *refused becomes true if the kernel refused its programs. */
static int create_capture(const struct capture_options *options, bool *refused,
			  struct capture **out, struct stackmap_error *error)
{
	struct capture *capture = allocate_capture();
	int result;

	if (!capture)
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	result = build_capture(capture, options, error);
	*refused = capture->loaded.attachment.refused;
	if (result)
		capture_free(&capture);
	else
		*out = capture;
	return result;
}

static bool leave_out_refused_task_iterators(struct capture_options *options,
					     struct capture_refusals *refusals)
{
	struct feature_result feature = {.works = true};

	if (!options->no_task_iterators)
		feature_probe(FEATURE_TASK_ITERATOR, &feature);
	if (feature.works)
		return false;
	options->no_task_iterators = true;
	error_set(&refusals->task_iterators, 0, "%s: %s", feature_name(FEATURE_TASK_ITERATOR),
		  feature.why);
	return true;
}

/* Leaves out a feature that this kernel refuses, before the next attempt to load. `last`: the
 * kernel's error in the last attempt. False: a recording needs all features that are left. */
static bool leave_out_refused_feature(struct capture_options *options,
				      const struct stackmap_error *last,
				      struct capture_refusals *refusals)
{
	struct feature_result symbol_iterators = {.works = true};

	/* Leaves out symbol iterators: a recording without them has the same contents, but its
	 * start takes longer.
	 */
	if (!options->no_symbol_iterators)
		feature_probe(FEATURE_SYMBOL_ITERATOR, &symbol_iterators);
	options->no_symbol_iterators |= !symbol_iterators.works;
	if (leave_out_refused_task_iterators(options, refusals) || !symbol_iterators.works)
		return true;
	if (!refusals->user_stacks.message[0])
		refusals->user_stacks = *last;
	if (options->no_user_stacks || options->user_unwind == USER_UNWIND_FP)
		return false;
	/* Chooses the next simpler method of unwinding user stacks. An instance without a process
	 * has no reader that could unwind raw stacks, so without task work it takes stacks by frame
	 * pointers. */
	if (options->no_task_work || options->has_files || !task_work_works())
		options->user_unwind = USER_UNWIND_FP;
	options->no_task_work = true;
	return true;
}

int capture_create(const struct capture_options *options, struct capture **out,
		   struct stackmap_error *error)
{
	struct capture_options chosen = *options;
	struct capture_refusals refusals = {};
	struct stackmap_error refusal = {}, last;
	bool refused = false;
	int first, result;

	first = result = create_capture(&chosen, &refused, out, &refusal);
	last = refusal;
	chosen.command_path = NULL; /* further attempts do not request the unwind tables of the
				       command's code again */
	while (result && refused && !interrupted() &&
	       leave_out_refused_feature(&chosen, &last, &refusals))
		result = create_capture(&chosen, &refused, out, &last);
	if (!result) {
		const struct capture_config *config = &(*out)->loaded.plan.config;

		/* The kernel has BPF task work, but task work fails, so user space unwinds the user
		 * stacks (DEFERRAL_ASSISTED). */
		if (!refusals.user_stacks.message[0] && config->user_stacks &&
		    config->deferral == DEFERRAL_ASSISTED && task_work_form() != TASK_WORK_NONE)
			error_set(&refusals.user_stacks, 0, "BPF task work: %s",
				  task_work_failure());
		(*out)->refusals = refusals;
		return 0;
	}
	if (interrupted())
		first = error_set(&refusal, EINTR, "%s", strerror(EINTR));
	if (first == -EPERM)
		source_needs_explain(options->sources, EPERM, &refusal);
	if (error)
		*error = refusal;
	return first;
}

int capture_open(struct folder *folder, struct capture **out, struct stackmap_error *error)
{
	struct capture *capture = allocate_capture();
	int result;

	if (!capture)
		return error_set(error, ENOMEM, "%s", strerror(ENOMEM));
	result = symbolizers_create(&capture->symbolizers)
			 ?: symbolizers_await_root_process(capture->symbolizers);
	if (result)
		instance_set_open_error(folder, result, error);
	else
		result = instance_open(&capture->loaded, folder, &capture->metadata, error);
	if (!result) {
		result = recording_create(&capture->recording, &capture->loaded,
					  capture->symbolizers);
		if (result)
			instance_set_open_error(folder, result, error);
	}
	if (result)
		capture_free(&capture);
	else
		*out = capture;
	return result;
}

static int open_instance_for_viewer(struct folder *folder, struct capture **out,
				    struct stackmap_error *error)
{
	struct capture *capture;
	int result = capture_open(folder, &capture, error);

	if (result)
		return result;
	result = reset_pin_second_table(&capture->loaded, folder, error);
	if (result)
		capture_free(&capture);
	else
		*out = capture;
	return result;
}

static int open_instance_for_reader(struct folder *folder, struct capture **out,
				    struct stackmap_error *error)
{
	int result =
		folder_lock_reader(folder, error) ?: open_instance_for_viewer(folder, out, error);

	if (!result)
		loaded_leave_out_self(&(*out)->loaded);
	return result;
}

/* Opens the instance while this process holds the lock for changes, so that no reset runs
 * meanwhile: a reset without a reader holds the reader's lock, too, and open_instance_for_reader()
 * would fail. */
static int open_instance_under_lock(struct folder *folder, struct capture **out,
				    struct stackmap_error *error,
				    int (*open)(struct folder *folder, struct capture **out,
						struct stackmap_error *error))
{
	struct folder *control;
	int result = folder_open(folder_name(folder), &control, error);

	if (result)
		return result;
	result = folder_lock_wait(control, error) ?: open(folder, out, error);
	folder_close(&control);
	return result;
}

int capture_open_reader(struct folder *folder, struct capture **out, struct stackmap_error *error)
{
	return open_instance_under_lock(folder, out, error, open_instance_for_reader);
}

int capture_open_viewer(struct folder *folder, struct capture **out, struct stackmap_error *error)
{
	return open_instance_under_lock(folder, out, error, open_instance_for_viewer);
}

void capture_free(struct capture **capture)
{
	struct capture *gone = *capture;

	if (!gone)
		return;
	command_code_reap_linker(&gone->command_code);
	symbols_clear_rules_awaited(&gone->recording);
	attachment_free(&gone->loaded.attachment);
	recording_free(&gone->recording);
	symbolizers_free(&gone->symbolizers);
	loaded_free(&gone->loaded);
	metadata_free(&gone->metadata);
	free(gone);
	*capture = NULL;
}

const struct metadata *capture_metadata(const struct capture *capture)
{
	return capture->metadata;
}

struct loaded *capture_loaded(struct capture *capture)
{
	return &capture->loaded;
}

const struct kernel_files *capture_kernel_files(const struct capture *capture)
{
	return symbolizers_kernel_files(capture->symbolizers);
}

struct symbolizers *capture_symbolizers(struct capture *capture)
{
	return capture->symbolizers;
}

const struct capture_refusals *capture_refusals(const struct capture *capture)
{
	return &capture->refusals;
}

int capture_attach(struct capture *capture, struct stackmap_error *error)
{
	capture->loaded.running = true;
	return attachment_attach_all_sources(&capture->loaded.attachment, error);
}

void capture_detach(struct capture *capture)
{
	struct lock_holders holders = {};

	if (capture->loaded.plan.holders)
		lock_holders_find(&capture->loaded, &holders);
	attachment_detach_sources(&capture->loaded.attachment);
	generation_wait_for_programs(&capture->loaded);
	lock_holders_record(&capture->loaded, &holders);
	if (capture->recording.times)
		thread_times_record_unseen_waits(&capture->loaded);
	capture->loaded.running = false;
}

int capture_unwind_blocked(struct capture *capture)
{
	bool defers = capture->recording.deferred &&
		      capture->loaded.plan.config.deferral == DEFERRAL_TASK_WORK;

	return defers ? unwind_blocked_at_end(&capture->recording) : 0;
}

int capture_unwind_raw_stacks(struct capture *capture)
{
	u32 fill;

	return capture->recording.deferred
		       ? deferred_unwind_raw_stacks_in_ring(&capture->recording, &fill)
		       : 0;
}

int capture_freeze(struct capture *capture)
{
	int result = loaded_freeze(&capture->loaded);

	if (capture->recording.deferred)
		result = result ?: deferred_read_open_cookies(&capture->recording);
	loaded_resume_events(&capture->loaded);
	if (result)
		capture_thaw(capture);
	return result;
}

void capture_thaw(struct capture *capture)
{
	loaded_thaw(&capture->loaded);
}

int capture_begin(struct capture *capture, struct trace_writer *writer,
		  struct stackmap_error *error)
{
	return recording_begin(&capture->recording, writer, error);
}

int capture_drain(struct capture *capture, int *next_ms)
{
	command_code_reap_linker(&capture->command_code);
	return recording_drain(&capture->recording, next_ms);
}

int capture_wake_fd(const struct capture *capture)
{
	return capture->recording.wake;
}

int capture_request_symbols_ahead(struct capture *capture, enum symbolizers_which which)
{
	return recording_request_symbols_ahead(&capture->recording, which);
}

int capture_await_symbols_ahead(struct capture *capture, u32 others_ms, u32 own_ms, u32 longest_ms)
{
	return recording_await_symbols_ahead(&capture->recording, others_ms, own_ms, longest_ms);
}

int capture_request_symbols_now_and_then(struct capture *capture)
{
	return recording_request_symbols_now_and_then(&capture->recording);
}

int capture_end_window(struct capture *capture)
{
	return recording_end_window(&capture->recording);
}

int capture_snapshot(struct capture *capture)
{
	return recording_snapshot(&capture->recording);
}

int capture_finish(struct capture *capture, struct trace_ledger *ledger,
		   struct stackmap_error *error)
{
	return recording_finish(&capture->recording, ledger, error);
}

u64 capture_events(const struct capture *capture)
{
	u64 events = 0;

	for (u32 cpu = 0; cpu < capture->loaded.plan.config.cpus; cpu++)
		events += capture->recording.cpus[cpu].events;
	return events;
}

bool capture_has_seen_comm(const struct capture *capture)
{
	return task_log_has_wanted_name(capture->recording.tasks);
}

bool capture_next_slow_owner(struct capture *capture, struct symbolizers_trouble *trouble)
{
	return symbolizers_next_slow_owner(capture->symbolizers, trouble);
}
