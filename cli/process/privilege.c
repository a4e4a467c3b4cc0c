/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The capabilities that are kept, and what they are used for:
 *
 * - CAP_SYS_PTRACE: /proc/PID/root, map_files and memory of other users' processes
 * - CAP_DAC_READ_SEARCH: files in folders that are closed to this user
 * - CAP_CHECKPOINT_RESTORE: deleted files, by /proc/PID/map_files
 * - CAP_KILL: ending the recorded command after it has changed its user
 * - CAP_PERFMON: sampling CPUs that come online
 * - CAP_DAC_OVERRIDE, CAP_FOWNER: files made later in another user's folder
 */
#include "privilege.h"

#include <libgen.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "privilege/capability.h"
#include "terminal/message.h"

#define WRITING (CAPABILITY(CAP_DAC_OVERRIDE) | CAPABILITY(CAP_FOWNER))

/* A folder whose owner is unknown counts as another user's. */
static bool is_file_in_folder_of_this_user(const char *file)
{
	char *path = strdup(file);
	struct stat status;
	bool own = path && !stat(dirname(path), &status) && status.st_uid == geteuid() &&
		   status.st_mode & S_IWUSR;

	free(path);
	return own;
}

int drop_unneeded_privileges(const struct privilege_needs *needs, struct stackmap_error *error)
{
	u64 kept = 0;
	int result;

	if (needs->reads_files)
		kept |= CAPABILITIES_READING;
	if (needs->ends_command)
		kept |= CAPABILITY(CAP_KILL);
	if (needs->opens_events)
		kept |= CAPABILITY(CAP_PERFMON);
	if (needs->later_file && !is_file_in_folder_of_this_user(needs->later_file))
		kept |= WRITING;
	result = capability_keep_only(kept);
	if (!result)
		return 0;
	return error_set(error, -result, "privileges cannot be given up: %s", strerror(-result));
}

int privilege_drop_or_print_error(const struct privilege_needs *needs)
{
	struct stackmap_error error;

	if (!drop_unneeded_privileges(needs, &error))
		return EXIT_DONE;
	return print_error_message(&error);
}

/*
 * An error is ignored: the command then shows the recording while it has capabilities that it does
 * not need.
 */
void privilege_keep_reading_of_files(void)
{
	capability_keep_only(CAPABILITY(CAP_DAC_READ_SEARCH) | WRITING);
}

void privilege_keep_reading_of_kernel_files(void)
{
	capability_keep_only(CAPABILITY(CAP_DAC_READ_SEARCH) | CAPABILITY(CAP_SYSLOG) | WRITING);
}

/*
 * An event source needs two descriptors, and on every CPU if it is a perf event. This soon exceeds
 * the usual soft limit of 1024. The limit protects users of select(), which this program does not
 * use.
 */
void raise_open_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
