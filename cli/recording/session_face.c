/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "recording/session_face.h"

#include "capture/load/loaded.h"
#include "process/file_limit.h"
#include "process/privilege.h"
#include "symbol/file/file_owner.h"
#include "symbol/symbolizer/symbolizers.h"
#include "terminal/message.h"

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
