/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process_contexts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROCESS_IDS (1U << 22) /* the kernel's limit */

struct known {
	struct trace_process process;
	uid_t uid;
	bool has_ended; /* true: the process had ended at the end of the last file */
};

struct process_contexts {
	u32 count;
	u64 bytes;   /* length of all messages together */
	u64 refused; /* number of processes that were refused since the last file */
	u8 refused_by_id[PROCESS_IDS / 8]; /* a bit for each process id: counted in `refused` */
	struct known known[PROCESS_CONTEXTS_MAX];
};

int process_contexts_create(struct process_contexts **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void process_contexts_free(struct process_contexts **contexts)
{
	if (!*contexts)
		return;
	for (u32 i = 0; i < (*contexts)->count; i++)
		free((void *)(*contexts)->known[i].process.message);
	free(*contexts);
	*contexts = NULL;
}

bool process_contexts_read_user(u32 tgid, uid_t *uid)
{
	char path[40], line[512];
	FILE *file;

	*uid = 0;
	snprintf(path, sizeof(path), "/proc/%u/status", tgid);
	file = fopen(path, "re");
	if (!file)
		return errno != ENOENT && errno != ESRCH;
	while (fgets(line, sizeof(line), file) && sscanf(line, "Uid: %u", uid) != 1) {
	}
	fclose(file);
	return true;
}

static struct known *find_known_context(struct process_contexts *contexts, u32 tgid, u64 since)
{
	for (u32 i = 0; i < contexts->count; i++)
		if (contexts->known[i].process.tgid == tgid &&
		    contexts->known[i].process.since == since)
			return &contexts->known[i];
	return NULL;
}

static void drop_known_context(struct process_contexts *contexts, struct known *known)
{
	contexts->bytes -= known->process.bytes;
	free((void *)known->process.message);
	*known = contexts->known[--contexts->count];
}

/* True if a message of `bytes` in place of the known one, or of none (NULL), exceeds no limit. */
static bool has_room_for_message(const struct process_contexts *contexts, const struct known *known,
				 u32 bytes, uid_t uid)
{
	u64 all_bytes = contexts->bytes - (known ? known->process.bytes : 0) + bytes;
	u32 user_kept = 1;
	u64 user_bytes = bytes;

	if (contexts->count + !known > PROCESS_CONTEXTS_MAX ||
	    all_bytes > PROCESS_CONTEXTS_BYTES_MAX)
		return false;
	if (!uid)
		return true;
	for (u32 i = 0; i < contexts->count; i++) {
		const struct known *other = &contexts->known[i];

		if (other == known || other->uid != uid)
			continue;
		user_kept++;
		user_bytes += other->process.bytes;
	}
	return user_kept <= USER_CONTEXTS_MAX && user_bytes <= USER_CONTEXTS_BYTES_MAX;
}

static void refuse_context(struct process_contexts *contexts, u32 tgid)
{
	u8 *byte = &contexts->refused_by_id[tgid % PROCESS_IDS / 8], bit = 1U << tgid % 8;

	contexts->refused += !(*byte & bit);
	*byte |= bit;
}

void process_contexts_keep(struct process_contexts *contexts, const struct trace_process *process,
			   uid_t uid)
{
	struct known *known = find_known_context(contexts, process->tgid, process->since);
	u8 *message = NULL;

	if (known && known->process.bytes == process->bytes &&
	    !memcmp(known->process.message, process->message, process->bytes)) {
		known->process.program = process->program;
		return;
	}
	if (has_room_for_message(contexts, known, process->bytes, uid))
		message = malloc(process->bytes + 1UL);
	if (!message) {
		refuse_context(contexts, process->tgid);
		return;
	}
	if (known)
		drop_known_context(contexts, known);
	memcpy(message, process->message, process->bytes);
	known = &contexts->known[contexts->count++];
	*known = (struct known){.process = *process, .uid = uid};
	known->process.message = message;
	contexts->bytes += process->bytes;
}

void process_contexts_drop(struct process_contexts *contexts, u32 tgid, u64 since)
{
	struct known *known = find_known_context(contexts, tgid, since);

	if (known)
		drop_known_context(contexts, known);
}

int process_contexts_each(const struct process_contexts *contexts,
			  int (*each)(void *arg, const struct trace_process *process), void *arg)
{
	int result = 0;

	for (u32 i = 0; i < contexts->count && !result; i++)
		result = each(arg, &contexts->known[i].process);
	return result;
}

u64 process_contexts_end_file(struct process_contexts *contexts, bool keeps_ended)
{
	bool drops = !keeps_ended || contexts->refused;
	u64 refused = contexts->refused;

	for (u32 i = contexts->count; i-- > 0;) {
		struct known *known = &contexts->known[i];

		if (known->has_ended && drops) {
			drop_known_context(contexts, known);
			continue;
		}
		/* If another process has got the id, the entry of the ended process stays until the
		 * other process ends. */
		known->has_ended = kill((pid_t)known->process.tgid, 0) && errno == ESRCH;
	}
	contexts->refused = 0;
	if (refused)
		memset(contexts->refused_by_id, 0, PROCESS_IDS / 8);
	return refused;
}
