/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* seed_ftrace DIR: writes a batch with an entry of each kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ftrace/entry.h"

static u8 batch[FTRACE_BATCH_BYTES];
static u32 batch_bytes;

static void put(struct ftrace_entry entry, const void *payload)
{
	entry.tid = 5;
	if (!ftrace_batch_put(batch, &batch_bytes, &entry, payload))
		exit(1);
}

static void put_all(void)
{
	static const u64 frames[] = {0xffffffff81000010, 0x7fffffff, 0};
	static const char comm[FTRACE_COMM_BYTES] = "task";

	put((struct ftrace_entry){.what = FTRACE_SOURCE, .bytes = 4}, "a:b");
	put((struct ftrace_entry){.what = FTRACE_TASK, .bytes = sizeof(comm)}, comm);
	put((struct ftrace_entry){.what = FTRACE_EVENT, .time = 1}, NULL);
	put((struct ftrace_entry){.what = FTRACE_STACK, .bytes = sizeof(frames)}, frames);
	put((struct ftrace_entry){.what = FTRACE_USER_STACK, .bytes = sizeof(frames)}, frames);
	put((struct ftrace_entry){.what = FTRACE_EVENT, .time = 2}, NULL);
	put((struct ftrace_entry){.what = FTRACE_STACK_ID, .id = 7}, NULL);
	put((struct ftrace_entry){.what = FTRACE_COOKIE, .value = 9}, NULL);
	put((struct ftrace_entry){.what = FTRACE_EVENT, .time = 3}, NULL);
	put((struct ftrace_entry){.what = FTRACE_ANSWER, .value = 9, .reason = 1}, NULL);
	put((struct ftrace_entry){.what = FTRACE_GAP}, NULL);
	put((struct ftrace_entry){.what = FTRACE_LOST, .value = 3, .reason = 2}, NULL);
}

int main(int argc, char **argv)
{
	char path[4096];
	FILE *to;

	if (argc != 2)
		return 2;
	put_all();
	snprintf(path, sizeof(path), "%s/batch", argv[1]);
	to = fopen(path, "w");
	if (!to)
		return 1;
	return fwrite(batch, batch_bytes, 1, to) != 1 || fclose(to);
}
