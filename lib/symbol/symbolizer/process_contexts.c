/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "process_contexts.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"

/* The most processes that are known, with those that were refused. */
#define KNOWN_MAX (2 * PROCESS_CONTEXTS_MAX)

struct known {
	struct trace_process process; /* message: NULL = none is kept, as all were refused */
	uid_t uid;
	bool is_refused; /* counted as refused since the last file */
	bool has_ended;	 /* true: the process had ended at the end of the last file */
};

struct process_contexts {
	struct known *known;
	u32 count, room;
	u32 kept;  /* number of messages */
	u64 bytes; /* length of all messages together */
	u64 refused;
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
	free((*contexts)->known);
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

static struct known *find_known_context(const struct process_contexts *contexts, u32 tgid,
					u64 since)
{
	for (u32 i = 0; i < contexts->count; i++)
		if (contexts->known[i].process.tgid == tgid &&
		    contexts->known[i].process.since == since)
			return &contexts->known[i];
	return NULL;
}

static struct known *add_known_context(struct process_contexts *contexts,
				       const struct trace_process *process)
{
	struct known *known;

	if (contexts->count == KNOWN_MAX ||
	    array_make_room(contexts->known, contexts->count, contexts->room))
		return NULL;
	known = &contexts->known[contexts->count++];
	*known = (struct known){.process = {.tgid = process->tgid, .since = process->since}};
	return known;
}

static void drop_known_context(struct process_contexts *contexts, struct known *known)
{
	contexts->kept -= known->process.message != NULL;
	contexts->bytes -= known->process.bytes;
	free((void *)known->process.message);
	*known = contexts->known[--contexts->count];
}

/* True if a message of `bytes` in place of the known one exceeds no limit. */
static bool has_room_for_message(const struct process_contexts *contexts, const struct known *known,
				 u32 bytes, uid_t uid)
{
	u32 user_kept = 1;
	u64 user_bytes = bytes;

	if (contexts->kept + !known->process.message > PROCESS_CONTEXTS_MAX ||
	    contexts->bytes - known->process.bytes + bytes > PROCESS_CONTEXTS_BYTES_MAX)
		return false;
	if (!uid)
		return true;
	for (u32 i = 0; i < contexts->count; i++) {
		const struct known *other = &contexts->known[i];

		if (other == known || other->uid != uid || !other->process.message)
			continue;
		user_kept++;
		user_bytes += other->process.bytes;
	}
	return user_kept <= USER_CONTEXTS_MAX && user_bytes <= USER_CONTEXTS_BYTES_MAX;
}

void process_contexts_keep(struct process_contexts *contexts, const struct trace_process *process,
			   uid_t uid)
{
	struct known *known = find_known_context(contexts, process->tgid, process->since)
				      ?: add_known_context(contexts, process);
	u8 *message = NULL;

	if (known && known->process.message && known->process.bytes == process->bytes &&
	    !memcmp(known->process.message, process->message, process->bytes)) {
		known->process.program = process->program;
		return;
	}
	if (known && has_room_for_message(contexts, known, process->bytes, uid))
		message = malloc(process->bytes + 1UL);
	if (!message) {
		contexts->refused += !known || !known->is_refused;
		if (known)
			known->is_refused = true;
		return;
	}
	memcpy(message, process->message, process->bytes);
	contexts->kept += !known->process.message;
	contexts->bytes = contexts->bytes - known->process.bytes + process->bytes;
	free((void *)known->process.message);
	known->process.message = message;
	known->process.bytes = process->bytes;
	known->process.program = process->program;
	known->uid = uid;
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
		if (contexts->known[i].process.message)
			result = each(arg, &contexts->known[i].process);
	return result;
}

u64 process_contexts_end_file(struct process_contexts *contexts, bool keeps_ended)
{
	bool drops = !keeps_ended || contexts->refused;
	u64 refused = contexts->refused;

	for (u32 i = contexts->count; i-- > 0;) {
		struct known *known = &contexts->known[i];

		if (!known->process.message || (known->has_ended && drops)) {
			drop_known_context(contexts, known);
			continue;
		}
		known->is_refused = false;
		/* If another process has got the id, the entry of the ended process stays until the
		 * other process ends. */
		known->has_ended = kill((pid_t)known->process.tgid, 0) && errno == ESRCH;
	}
	contexts->refused = 0;
	return refused;
}
