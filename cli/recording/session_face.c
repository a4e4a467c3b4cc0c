/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/session_face.h"

#include "capture/load/loaded.h"
#include "process/privilege.h"
#include "symbol/file/mapped_file.h"
#include "symbol/symbolizer/symbolizers.h"
#include "terminal/message.h"

static const char *const stop_names[] = {
#define X(id, name, meaning) [STOP_##id] = name,
	STOP_REASONS(X)
#undef X
};

static const struct {
	const char *name, *meaning;
} ways[] = {
	[USER_WAY_NONE] = {"none", "not taken"},
	[USER_WAY_FP] = {"fp", "by frame pointers alone"},
	[USER_WAY_DEFERRED] = {"deferred", "by unwind tables, in the kernel"},
	[USER_WAY_ASSISTED] = {"assisted", "by frame pointers and learned rules; a reader finishes "
					   "the rest"},
};

const char *user_way_name(enum user_way way)
{
	return ways[way].name;
}

const char *user_way_meaning(enum user_way way)
{
	return ways[way].meaning;
}

void user_way_tell(struct capture *capture)
{
	const struct capture_refusals *refusals = capture_refusals(capture);
	const struct plan *plan = &capture_loaded(capture)->plan;

	if (refusals->user_stacks.message[0])
		message("user stacks are taken %s; a better way was tried: %s",
			user_way_meaning(user_way_of(capture_loaded(capture))),
			refusals->user_stacks.message);
	if (refusals->task_iterators.message[0] && (plan->off_cpu || plan->times))
		message("waits that begin before the recording, or do not end in it, have no "
			"event: %s",
			refusals->task_iterators.message);
}

void user_way_tell_counts(struct capture *capture)
{
	struct walk_counts counts = loaded_walks(capture_loaded(capture));

	message("user_walked: %llu", (unsigned long long)counts.walked);
	message("user_table_frames: %llu", (unsigned long long)counts.table_frames);
	message("user_mapping_walks: %llu", (unsigned long long)counts.mapping_walks);
	message("script_loops: %llu", (unsigned long long)counts.script_loops);
	for (u32 stop = 0; stop < STOP_COUNT; stop++)
		if (STOP_IS_DEFERRAL(stop) && counts.deferred[stop])
			message("user_deferred_%s: %llu", stop_names[stop],
				(unsigned long long)counts.deferred[stop]);
}

int session_face_drop_privileges(const struct session *session, bool ends_command,
				 const char *later_file)
{
	const struct privilege_needs needs = {
		.reads_files = true,
		.ends_command = ends_command,
		.opens_events = loaded_is_by_cpu(capture_loaded(session_capture(session))),
		.later_file = later_file,
	};

	return privilege_drop(&needs);
}

void session_face_tell_nameless(const struct session *session)
{
	struct symbolizers_trouble trouble;

	while (capture_tell_trouble(session_capture(session), &trouble)) {
		if (trouble.owner == FILE_OWNER_KERNEL) {
			message("the kernel's symbols were not read in time: its frames have no "
				"names");
			continue;
		}
		message("%s %llu: %llu files gave no names (slow, damaged or too large), one of "
			"them %s",
			trouble.owner & FILE_OWNER_MOUNT ? "device" : "user",
			(unsigned long long)(trouble.owner & ~FILE_OWNER_MOUNT),
			(unsigned long long)trouble.files, trouble.path);
	}
}

int session_face_try(enum user_way *way, struct stackmap_error *error)
{
	const struct session_options options = {.all = true, .windows = true, .name = "trial"};
	const struct privilege_needs needs = {.reads_files = true};
	struct session *session = NULL;
	int result;

	file_limit_raise();
	result = session_create(&options, NULL, &session, error)
			 ?: session_open(session, 0, NULL, error)
			 ?: session_start(session, error)
			 ?: privilege_give_up(&needs, error);
	if (!result) {
		*way = user_way_of(capture_loaded(session_capture(session)));
		*error = capture_refusals(session_capture(session))->user_stacks;
	}
	session_close(&session);
	return result;
}
