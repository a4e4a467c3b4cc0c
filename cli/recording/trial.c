/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* All that may be refused before the first event, by the functions that `record` calls. */
#include "trial.h"

#include "capture/capture.h"
#include "capture/recording_info.h"
#include "process/file_limit.h"
#include "process/privilege.h"
#include "record_target.h"
#include "trace/write/memory_recording.h"

static int begin(struct capture *capture, struct stackmap_error *error)
{
	struct memory_recording recording = {};
	const struct privilege_needs needs = {.reads_files = true};
	struct recording_info info;
	int result;

	recording_info_init(&info, capture, SAMPLE_FREQUENCY_DEFAULT, "");
	result = memory_recording_begin(&recording, "trial", &info.info, error)
			 ?: capture_begin(capture, recording.writer, error)
			 ?: capture_attach(capture, error)
			 ?: privilege_give_up(&needs, error);
	memory_recording_discard(&recording);
	return result;
}

int trial_recording(enum user_way *way, struct stackmap_error *error)
{
	struct source_list sources = {};
	struct capture_options options = {.sources = &sources, .user_unwind = USER_UNWIND_AUTO};
	struct capture *capture = NULL;
	int result = source_list_add_sample(&sources, SAMPLE_FREQUENCY_DEFAULT, error);

	file_limit_raise();
	result = result ?: capture_create(&options, &capture, error);
	result = result ?: begin(capture, error);
	if (!result) {
		*way = user_way_of(capture_loaded(capture));
		*error = capture_refusals(capture)->user_stacks;
	}
	capture_free(&capture);
	source_list_clear(&sources);
	return result;
}
